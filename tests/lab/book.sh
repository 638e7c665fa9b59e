#!/usr/bin/env bash
# The book of the guides: each page is in its contents. LATLAB_LONG=1 builds it and follows every link.
. "$(dirname "$0")/../common.bash"
have "the book" mandoc git || exit 0
# Else git refuses to work in a repository of another user.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

contents() {
    python3 packaging/book/stage.py "$here/src" || return 1
    expect "each command" [ "$(grep -c '^  - \[latlab-' "$here/src/SUMMARY.md")" -gt 20 ] &&
        expect "each decision" [ "$(grep -c '(docs/decisions/' "$here/src/SUMMARY.md")" = \
            "$(ls docs/decisions/*.md | wc -l)" ]
}
try "every page stands in the contents of the book" contents

if [ -n "${LATLAB_LONG:-}" ]; then
    # Prints each link of the site to a missing file or heading.
    lost() {
        python3 tests/lab/checks.py lost_links "$1"
    }
    book() {
        scripts/setup.sh book && scripts/book.sh "$here/book" || return 1
        lost "$here/book" >"$here/lost"
        cat "$here/lost"
        expect "no link into nothing" [ ! -s "$here/lost" ] &&
            expect "an index of words" [ -n "$(find "$here/book" -name 'searchindex*.js' -size +100k)" ]
    }
    try "the book is built, and its links lead somewhere" book
fi

exit $status
