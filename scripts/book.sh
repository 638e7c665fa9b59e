#!/usr/bin/env bash
# Builds the book of the guides and the reference, with search. Usage: scripts/book.sh [FOLDER]
#   FOLDER  output folder of the site [target/book]
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")/../target/book}")
. "$(dirname "$0")/env.sh"
export PATH=$root/target/tools/bin:$PATH
for program in mdbook mandoc; do
    command -v $program >/dev/null || die "$program is missing: run 'scripts/setup.sh book'"
done

stage=$root/target/book-stage
mkdir -p "$stage"
python3 packaging/book/stage.py "$stage/src"
cp packaging/book/book.toml "$stage"
mdbook build --dest-dir "$folder" "$stage"
say "made $folder/index.html"
