# What the tests of many boards share, to be sourced after common.bash: this machine as five boards, through five
# sshds.
. tests/lab/board.bash
need_boards "many boards"
export NO_COLOR=1 LATLAB_LAB=$here/lab
sshds=() ports=() known=()
trap 'kill "${sshds[@]}" 2>/dev/null; rm -rf "$here"' EXIT

for name in a b c d e; do
    start_sshd "SetEnv XDG_CACHE_HOME=$cache" >/dev/null
    sshds+=("$sshd") ports+=("$port") known+=("$(cat "$here/ssh/known")")
    cp "$here/ssh/sshd_config" "$here/ssh/config.$name"
    printf '%s\n' "[board-$name]" "target = \"$board\"" 'deadline = "20s"' >>"$here/boards.toml"
done
printf '%s\n' "${known[@]}" >"$here/ssh/known"
{
    # The boards are one machine, whose CPUs only one run measures at a time unless it shares them.
    printf '%s\n' 'repeats = 2' 'retries = 1' '[defaults]' 'warm-up = "0s"' 'cpus = "0"' 'period = "1ms"' \
        'share = true' 'telemetry = "off"'
    [ "$(id -u)" = 0 ] || printf '%s\n' 'policy = "other"' 'idle-states = "system"'
    printf '%s\n' '[[scenario]]' 'name = "idle"' 'for = "3s"'
} >"$here/night.toml"
cd "$here" || exit 1

# Runs the sheet: $code, $here/table.json, $here/lines.
measure() {
    "$program" run "$@" --format json >table.json 2>lines
    code=$?
}
table() { python3 "$tests/lab/boards.py" table "$@"; }
# The largest number of concurrent runs.
at_once() { python3 "$tests/lab/boards.py" at_once; }

# Two of the boards, and a sheet without retries.
head -n 6 boards.toml >two.toml
sed 's/retries = 1/retries = 0/' night.toml >once.toml
attempts() { python3 "$tests/lab/boards.py" attempts "$1"; }
has_counts_of() { has_counts 3 runs/*/runs/.*"$1"-1.partial/journal; }
# The pattern is expanded at each try.
has_counts_in() { has_counts 3 "$1"/*_night*/runs/.*board-$2.partial/journal; }
