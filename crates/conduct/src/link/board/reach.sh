# The board's side until its agent runs: one argument of `sh -c`, for busybox and any other POSIX shell.
# Arguments: run, restore, status, detach or collect, `root` if root is needed, the folder of
# detached runs if it is not the usual one, and the id of the run; or programs, and their names.
#
# It is sent as one line, without these comments. It holds no single quote, no backslash and no
# exclamation mark, so that any login shell passes it on unchanged; and each line ends so that a blank
# may replace the newline. Standard input is only ever data: the answers of the conductor, the agent
# program, and then the agent's own input.
umask 077;
trap "" HUP;
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin; export PATH;
LC_ALL=C; export LC_ALL;
say() { echo "latlab-board $*"; };
brief=; new=; sudo=; right=root; user=$(id -u);
clean() { [ -z "$brief" ] || rm -rf "$brief"; [ -z "$new" ] || rm -rf "$new"; };
fail() { clean; say failed "$@"; exit 90; };
if [ "$user" -ne 0 ]; then
right=user;
if [ "$2" = root ]; then
if sudo -n true </dev/null >/dev/null 2>&1; then sudo="sudo -n"; right=sudo;
elif command -v sudo >/dev/null 2>&1; then right=password;
else right=none; fi;
fi;
fi;
say hello "$(uname -m)" "$right" "$(date +%s)";
if [ "$1" = programs ]; then
shift;
for program in "$@"; do if command -v "$program" >/dev/null 2>&1; then say has "$program"; fi; done;
say done;
exit 0;
fi;
cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/latlab;
place=$cache/agents;
memory=/dev/shm/latlab-$user;
# A detached run is a folder with its plan, its stream, the agent's error messages, and in the end its exit
# code. One without an exit code whose agent is gone was cut: the agent was killed, or the board went down.
# Whether no other user can replace files in this folder: it and its parents belong to root or to us, and other
# users with write access cannot rename files that are not theirs (sticky, as /tmp). $real is the folder without
# links in its path, which others might redirect afterwards: only that is used.
safe() {
unsafe=$1; real=$(cd -P "$1" 2>/dev/null && pwd -P) || return 1;
at=$real;
while :; do
unsafe=${at:-/};
set -- $(ls -ldn "$at/." 2>/dev/null);
[ "$3" = 0 ] || [ "$3" = "$user" ] || return 1;
case $1 in
d????????[tT]* | d????-??-*) ;;
d????w??-?+*) return 1;;
d????w??-*) [ "$4" = "$3" ] || return 1;;
*) return 1;;
esac;
case $at in "" | /) return 0;; esac;
at=${at%/*};
done;
};
own() { if [ -L "$1" ]; then return 1; fi; [ -d "$1" ] && [ -O "$1" ]; };
run_of() { for base in "$3" "$cache/runs" "$memory"; do [ -n "$base" ] && safe "$base" && run=$real/$4 && own "$run" && [ -f "$run/stream" ] && return 0; done; say gone; return 1; };
size_of() { echo $(($(wc -c <"$1") + 0)); };
words_of() { { words=$(cat "$1/cmdline"); } 2>/dev/null; };
agents_of() { for process in /proc/[0-9]*; do words_of "$process"; case $words in *latlab*/agent-[0-9a-f][0-9a-f]*"$1" | *latlab-boarddetach*"$1") echo "${process#/proc/}";; esac; done; };
state_of() { if [ -f "$1/end" ]; then echo ended; elif [ -n "$(agents_of "${1##*/}")" ]; then echo measures; else echo cut; fi; };
runs() {
for base in "$1" "$cache/runs" "$memory"; do
[ -n "$base" ] && safe "$base" && for run in "$real"/*Z_*; do
if own "$run" && [ -f "$run/stream" ]; then say run "${run##*/}" "$(state_of "$run")" "$(size_of "$run/stream")" "$base"; fi;
done;
done;
say done;
};
serve() {
while read -r word id from; do
if [ "$word" = list ]; then runs "$3";
elif run_of 0 0 "$3" "$id"; then
case $word in
get) size=$(($(size_of "$run/stream") - from)); say piece "$size"; tail -c "+$((from + 1))" "$run/stream" | head -c "$size";;
sum) say sum "$(sum_of "$run/stream")";;
end) say end "$(cat "$run/end" 2>/dev/null)" "$(tail -n 1 "$run/errors" 2>/dev/null)";;
stop) for one in $(agents_of "$id"); do words_of "/proc/$one"; case $words in *latlab*/agent-[0-9a-f][0-9a-f]*) kill -TERM "$one" 2>/dev/null || $sudo kill -TERM "$one" 2>/dev/null;; esac; done; say stopped;;
remove) if rm -rf "$run"; then say removed; else say kept; fi;;
*) say unknown;;
esac;
fi;
done;
exit 0;
};
sum_of() {
if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1";
elif busybox sha256sum <"$1" 2>/dev/null; then return 0;
else openssl dgst -sha256 <"$1" 2>/dev/null | tail -c 65; fi;
};
if [ "$1" = collect ]; then serve "$@"; fi;
if [ "$1" = status ]; then
say kernel "$(uname -r)";
say cpus "$(grep -c ^processor /proc/cpuinfo)";
for agent in "$place"/agent-*; do if [ -x "$agent" ]; then say agent; fi; done;
for process in /proc/[0-9]*; do
words_of "$process";
case $words in *latlab*/agent-[0-9a-f][0-9a-f]*) say process "$words";; esac;
done;
runs "$3";
exit 0;
fi;
read -r sum size || exit 90;
is_whole() { case "$(sum_of "$1")" in "$sum "* | "$sum") return 0;; esac; return 1; };
why=;
# An error message ends with the system error: no space left on device, read-only file system.
not_in() { why="$why; $1: ${2##*: }"; return 1; };
fits() {
set -- "$1" "$2" $(df -Pk "$1" 2>/dev/null | tail -n 1);
if [ "${6:-9999999}" -lt "$((size / 1024 + 64))" ] 2>/dev/null; then not_in "$2" "no space left for it, $6 kB free"; return; fi;
# A quota only shows when data is written.
no=$( ( head -c "$size" </dev/zero >"$1/try.$$" ) 2>&1 ) || { rm -f "$1/try.$$"; not_in "$2" "$no"; return; };
: >"$1/try.$$"; chmod 700 "$1/try.$$"; "$1/try.$$" </dev/null >/dev/null 2>&1; set -- "$1" "$2" $?; rm -f "$1/try.$$";
[ "$3" -eq 0 ] || not_in "$2" "mounted noexec";
};
safe_place() { safe "$place" || fail unsafe "$unsafe"; place=$real; agent=$place/agent-$sum; };
agent=$place/agent-$sum;
if [ -d "$place" ]; then safe_place; fi;
# Partial copies left by a power cut; a copy in progress is younger, on any machine that shares this folder.
find "$place" -type f -name "*.[0-9]*" -mtime +0 -exec rm -f {} ";" 2>/dev/null;
if [ -f "$agent" ] && [ -O "$agent" ] && { chmod 700 "$place" "$agent" 2>/dev/null || { own "$place" && [ -x "$agent" ]; }; } && is_whole "$agent"; then say has-agent;
else
if no=$(mkdir -p "$place" 2>&1 && chmod 700 "$place" 2>&1) && no= && safe_place && fits "$place" "$place"; then
for old in "$place"/agent-*; do case $old in "$agent"*) ;; *) rm -f "$old";; esac; done;
else
[ -z "$no" ] || [ -n "$why" ] || not_in "$place" "$no";
for base in /dev/shm "/run/user/$user" /tmp; do
[ -d "$base" ] || continue;
brief=$(mktemp -d "$base/latlab.XXXXXX" 2>&1) || { not_in "$base" "$brief"; brief=; continue; };
if safe "$brief" && fits "$brief" "$base"; then break; fi;
rm -rf "$brief"; brief=;
done;
[ -n "$brief" ] || fail room "${why#; }";
place=$real;
fi;
agent=$place/agent-$sum;
say send;
no=$( ( head -c "$size" >"$agent.$$" ) 2>&1 ) || { rm -f "$agent.$$"; fail copy "${no##*: }"; };
[ -n "$(sum_of "$agent.$$")" ] || { rm -f "$agent.$$"; fail sum; };
is_whole "$agent.$$" || { rm -f "$agent.$$"; fail copy; };
no=$(chmod 700 "$agent.$$" 2>&1 && mv -f "$agent.$$" "$agent" 2>&1) || { rm -f "$agent.$$"; fail copy "${no##*: }"; };
fi;
said=$("$agent" --version </dev/null 2>&1) || fail exec $said;
$sudo "$agent" --restore </dev/null 2>&1 | sed "s/^/latlab-board told /";
say start "$said";
if [ "$1" = detach ]; then
if [ -n "$3" ]; then set -- "$1" "$2" "$3" "$4" "$3"; else set -- "$1" "$2" "$3" "$4" "$cache/runs" "$memory"; fi;
id=$4; shift 4;
for base in "$@"; do
mkdir -p "$base" 2>/dev/null;
case $base in "$memory") own "$base" || continue;; esac;
if [ -d "$base" ]; then safe "$base" || fail unsafe "$unsafe"; base=$real; fi;
[ -e "$base/$id" ] && fail taken;
if no=$(mkdir -p "$base" 2>&1 && mkdir "$base/$id" 2>&1); then new=$base/$id; break; fi;
not_in "$base" "$no";
done;
[ -n "$new" ] || fail folder "${why#; }";
set -- $(df -Pk "$new" | tail -n 1); kind=disk;
while read -r device mount type rest; do if [ "$mount" = "$6" ]; then kind=$type; fi; done </proc/mounts;
say place "$4" "$kind" "$(grep -c ^processor /proc/cpuinfo)" "$base";
read -r size || { clean; exit 90; };
head -c "$size" >"$new/plan" && [ "$(size_of "$new/plan")" = "$size" ] && : >"$new/stream" || fail plan "$base";
run=$new; new=;
( cd /; $sudo "$agent" "$id" <"$run/plan" >"$run/stream" 2>"$run/errors"; echo $? >"$run/end"; clean ) </dev/null >/dev/null 2>&1 &
say detached;
serve detach root "$base";
fi;
if [ "$1" = run ]; then $sudo "$agent" "$4"; code=$?; else code=0; fi;
clean;
exit $code;
