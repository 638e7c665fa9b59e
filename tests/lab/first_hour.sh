#!/usr/bin/env bash
# The first hour of a new user: each command of the guide, unchanged and in order. `make` and installations
# are left out: scripts/clean_root.sh tests these.
# Invariant (documents): The commands of the first hour run one after the other.
. "$(dirname "$0")/../common.bash"
. tests/lab/board.bash
[ "$(id -u)" = 0 ] || skip "the first hour: needs root"
guide=$PWD/docs/guide/first-hour.md
mkdir "$here/bin" "$here/clone"
ln -s "$program" "$here/bin/latlab"
ln -s "$PWD/fixtures" "$here/clone/fixtures"
# Stubs for what would ask for a password or is already installed.
cat >"$here/bin/sudo" <<'SCRIPT'
#!/bin/sh
case $1 in apt-get | make) exit 0 ;; esac
exec "$@"
SCRIPT
cat >"$here/bin/make" <<'SCRIPT'
#!/bin/sh
exec latlab run --for 2s --deadline 1ms --name make-run
SCRIPT
chmod 755 "$here"/bin/*
export PATH=$here/bin:$PATH COLUMNS=80
unset LATLAB_RUNS

# The commands below a heading of the guide, one a line.
commands() {
    awk -v head="## $1" '/^## / { inside = $0 == head } /^```/ { code = !code; next } inside && code' "$guide"
}

# Runs the commands of a section; each may end with a verdict.
section() {
    local line code all
    all=$(commands "$1")
    expect "commands below '$1'" [ -n "$all" ] || return
    while IFS= read -r line; do
        (cd "$here/clone" && bash -c "$line") </dev/null >"$here/said" 2>&1
        code=$?
        echo "\$ $line"
        cat "$here/said"
        case $code in 0 | 1 | 4) ;; *) echo "exit code $code" && return 1 ;; esac
        cat "$here/said" >>"$here/all"
    done <<<"$all"
}

# Runs a section whose commands must print this and write these pages: says HEADING WORDS PAGE...
says() {
    local page
    : >"$here/all"
    section "$1" && expect "the words '$2'" grep -qE -- "$2" "$here/all" || return
    shift 2
    for page; do
        expect "a whole page $page" grep -q '</html>' "$here/clone/$page" || return
    done
}

try "build, measure, look" says "Build, measure, look" "make-run" first.html
if have "the first hour under load" hackbench; then
    try "under load, and why" says "Under load, and why" "spikes"
    try "is it worse than before" says "Is it worse than before?" "^p99.9 " compared.html
fi
try "files of other tools" says "Files of other tools" "oslat.* verdict|verdict  run|  run  "

if have "the first hour in guests" qemu-system-x86_64 apt-get && have "the first hour in guests" hackbench; then
    if latlab agent --write x86_64 -o "$here/agent" >/dev/null 2>&1; then
        try "two kernels without a board" says "Stock kernel or PREEMPT_RT, without a board" "^rt: " kernels.html
    else
        echo "SKIPPED: the first hour in guests: $program carries no agent"
    fi
fi

on_board() {
    start_sshd && printf '%s\n' "Host localhost" "HostName 127.0.0.1" "Port $port" >>"$here/ssh/config" &&
        says "A board" "Stored"
    local code=$?
    stop_sshd
    return "$code"
}
if have "the first hour on a board" ssh ssh-keygen /usr/sbin/sshd; then
    if latlab agent --write "$(uname -m)" -o "$here/agent" >/dev/null 2>&1; then
        XDG_CACHE_HOME=$here/cache try "a board" on_board
    else
        echo "SKIPPED: the first hour on a board: $program carries no agent"
    fi
fi

exit $status
