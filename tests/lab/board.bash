# What the scripts that reach boards share: this machine as a board, through a private sshd on a loopback
# port, with its own keys and configuration. No service of the system is touched.
# $board is its URL, $LATLAB_SSH the client to reach it.

# Ends the script with a reason unless the machine has what they need: need_boards WHAT
need_boards() {
    have "$1" ssh ssh-keygen /usr/sbin/sshd || exit 0
    "$program" agent --write "$(uname -m)" -o "$here/latlab-agent" >/dev/null 2>&1 ||
        skip "$1: this build has no embedded agents"
    rights_for "$1"
    cache=$here/cache
    export LATLAB_RUNS=$here/runs
}

# Starts sshd with additional configuration lines, as the user who runs the script.
start_sshd() {
    local folder=$here/ssh line
    # Missing after a boot without the service.
    [ -d /run/sshd ] || mkdir -p /run/sshd 2>/dev/null
    if [ ! -e "$folder/host" ]; then
        mkdir -m 700 -p "$folder"
        ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
        ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
        cp "$folder/key.pub" "$folder/authorized"
    fi
    port=$(free_port)
    {
        # sshd takes the first of two lines for one setting.
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

# Whether a command fails with this code and exactly one line that has this text: refused CODE TEXT COMMAND...
# The command leaves its exit code in $code, and its messages in $here/errors.
refused() {
    local wanted=$1 text=$2
    shift 2
    "$@"
    expect "exit code $wanted, not $code" [ "$code" = "$wanted" ] &&
        expect "'$text'" grep -qF -- "$text" "$here/errors" &&
        expect "one line" [ "$(wc -l <"$here/errors")" = 1 ]
}

# Replaces ssh by a program, which gets the command for the board as its last argument.
answer_by() {
    printf '%s\n' '#!/bin/sh' "$1" >"$here/answer"
    chmod 755 "$here/answer"
    export LATLAB_SSH=$here/answer
}

# Whether the journal of the live run has three frames of counts.
stored() { has_counts 3 "$LATLAB_RUNS"/.*.partial/journal; }
