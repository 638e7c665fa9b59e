#!/usr/bin/env bash
# The program is static: it needs no loader and no library of the machine.
set -u
program=${LATLAB:-target/latlab}

if file -L "$program" | grep -Eq 'statically linked|static-pie linked'; then
    echo "ok file says that the program is static"
else
    echo "not ok $(file -L "$program")"
fi

# ldd fails for a static program, and names libraries for any other.
if ldd "$(realpath "$program")" 2>&1 | grep -q '=>'; then
    echo "not ok the program needs libraries: $(ldd "$(realpath "$program")" | tr '\n\t' '; ')"
else
    echo "ok ldd finds no library that the program needs"
fi

if [ "$(id -u)" = 0 ]; then
    empty=$(mktemp -d)
    trap 'rm -rf "$empty"' EXIT
    cp -L "$program" "$empty/latlab"
    if chroot "$empty" /latlab --version; then
        echo "ok the program runs where there is nothing else"
    else
        echo "not ok the program does not run where there is nothing else"
    fi
else
    echo "SKIPPED: the program alone in an empty folder: chroot needs root"
fi
