# Fake boards that only answer ssh, to be sourced after ssh.bash.

# Answers as a board with $here/fake first in its PATH, and with the shell $1.
fake_board() {
    mkdir -p "$here/fake"
    answer_by "for last; do :; done; export XDG_CACHE_HOME=$cache; PATH=$here/fake:\$PATH exec ${1:-sh} -c \"\$last\""
    board=ssh://fake
}
fake() {
    printf '%s\n' '#!/bin/sh' "$2" >"$here/fake/$1"
    chmod 755 "$here/fake/$1"
}
