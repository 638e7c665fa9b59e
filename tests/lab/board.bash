# What the scripts that reach boards share: this machine as a board, by an sshd of the script's own on a
# loopback port, with keys and a configuration of its own. No service of the system is touched.
# $board is its URL, $LATLAB_SSH how it is reached.

# What every such script needs, or its end in words: need_boards WHAT
need_boards() {
    have "$1" ssh ssh-keygen /usr/sbin/sshd || exit 0
    "$program" agent --write "$(uname -m)" -o "$here/latlab-agent" >/dev/null 2>&1 ||
        skip "$1: this build has no embedded agents"
    rights_for "$1"
    cache=$here/cache
    export LATLAB_RUNS=$here/runs
}

# Starts sshd with further lines of its configuration; the user is the one that runs the script.
start_sshd() {
    local folder=$here/ssh line
    # It is not there after a boot without the service.
    [ -d /run/sshd ] || mkdir -p /run/sshd 2>/dev/null
    if [ ! -e "$folder/host" ]; then
        mkdir -m 700 -p "$folder"
        ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
        ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
        cp "$folder/key.pub" "$folder/authorized"
    fi
    port=$(free_port)
    {
        # Of two lines for one thing sshd takes the first.
        printf '%s\n' "$@"
        printf '%s\n' "Port $port" "ListenAddress ${listen:-127.0.0.1}" "HostKey $folder/host" \
            "AuthorizedKeysFile $folder/authorized" "PidFile $folder/pid" 'StrictModes no' \
            'UsePAM no' 'PasswordAuthentication no' 'KbdInteractiveAuthentication no' \
            'PermitRootLogin yes' 'LogLevel ERROR'
    } >"$folder/sshd_config"
    echo "[${listen:-127.0.0.1}]:$port $(cut -d' ' -f1,2 "$folder/host.pub")" >"$folder/known"
    printf '%s\n' "IdentityFile $folder/key" "IdentitiesOnly yes" "UserKnownHostsFile $folder/known" \
        'GlobalKnownHostsFile /dev/null' 'StrictHostKeyChecking yes' >"$folder/config"
    export LATLAB_SSH="ssh -F $folder/config"
    board=ssh://${listen:-127.0.0.1}:$port
    $in_board /usr/sbin/sshd -D -f "$folder/sshd_config" -E "$folder/log" &
    sshd=$!
    until_holds 20 "an sshd that listens" sshd_answers
}
in_board=
sshd_answers() { $LATLAB_SSH -p "$port" "${listen:-127.0.0.1}" true </dev/null; }

stop_sshd() {
    kill "$sshd" 2>/dev/null
    wait "$sshd" 2>/dev/null
}

# A port that nobody uses now.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# That a command fails with this code and says this, in one line and nothing else: refused CODE TEXT COMMAND...
# The command leaves its exit code in $code, and what it said in $here/errors.
refused() {
    local wanted=$1 text=$2
    shift 2
    "$@"
    expect "exit code $wanted, not $code" [ "$code" = "$wanted" ] &&
        expect "'$text'" grep -qF -- "$text" "$here/errors" &&
        expect "one line" [ "$(wc -l <"$here/errors")" = 1 ]
}

# Answers in the place of ssh: a program that gets the command for the board as its last word.
answer_by() {
    printf '%s\n' '#!/bin/sh' "$1" >"$here/answer"
    chmod 755 "$here/answer"
    export LATLAB_SSH=$here/answer
}

# Whether the journal of the run that goes on has three frames of counts.
stored() { has_counts "$LATLAB_RUNS"/.*.partial/journal; }
has_counts() { python3 "$tests/checks.py" has_counts 3 "$@"; }
