#!/usr/bin/env bash
# Packs one program into a wheel, with the Python package that reads runs.
# Usage: scripts/wheel.sh PROGRAM MACHINE LICENCES FOLDER
#   MACHINE   the architecture, as `uname -m` prints it
#   LICENCES  the file with the licences of everything that is linked in
# Everything in the wheel has the time SOURCE_DATE_EPOCH. Prints the path of the wheel.
set -euo pipefail
program=$(realpath "$1") machine=$2 licences=$(realpath "$3") folder=$(realpath "$4")
. "$(dirname "$0")/env.sh"
: "${SOURCE_DATE_EPOCH:?}"
export SOURCE_DATE_EPOCH PYTHONDONTWRITEBYTECODE=1
umask 022
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
grep -qxF "version = \"$version\"" python/pyproject.toml ||
    die "python/pyproject.toml has another version than Cargo.toml: $version"
python=$root/.venv/bin/python
[ -x "$python" ] || python=python3
"$python" -c 'import hatchling' 2>/dev/null || die "wheels need hatchling: run 'scripts/setup.sh dist'"
# Only the files of the package, and the licences.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/latlab/fleet/queries"
cp python/pyproject.toml python/README.md python/hatch_build.py LICENSE-APACHE LICENSE-MIT "$tree"
cp python/src/latlab/*.py python/src/latlab/py.typed "$tree/src/latlab"
cp python/src/latlab/fleet/*.{py,properties,json} "$tree/src/latlab/fleet"
cp python/src/latlab/fleet/queries/*.sql "$tree/src/latlab/fleet/queries"
cp "$licences" "$tree/licences.txt"
# A static program needs neither glibc nor musl, so it runs with either.
tag=py3-none-manylinux_2_17_$machine.manylinux2014_$machine.musllinux_1_1_$machine
cd "$tree"
LATLAB_PROGRAM=$program LATLAB_WHEEL_TAG=$tag "$python" -m hatchling build -t wheel -d "$folder" >"$tree/log" 2>&1 ||
    { cat "$tree/log" >&2; die "hatchling made no wheel"; }
echo "$folder/latlab-$version-$tag.whl"
