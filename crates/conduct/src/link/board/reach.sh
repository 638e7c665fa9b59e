# What a board does until its agent runs: one argument of `sh -c`, for busybox and any other POSIX shell.
# Arguments: run, restore or status, `root` if that right is wanted, and the id of the run; or programs, and their names.
#
# It is sent as one line, without these comments. It holds no single quote, no backslash and no
# exclamation mark, so that whatever login shell is there hands it on as it is; and each line ends
# as it would before a blank. What arrives on standard input is only ever data: the answers of the
# conductor, the bytes of the agent, and then what the agent itself reads.
umask 077;
trap "" HUP;
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin; export PATH;
say() { echo "latlab-board $*"; };
fail() { [ -z "$brief" ] || rm -rf "$brief"; say failed "$@"; exit 90; };
brief=; sudo=; right=root;
if [ "$(id -u)" -ne 0 ]; then
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
place=${XDG_CACHE_HOME:-${HOME:-}/.cache}/latlab/agents;
if [ "$1" = status ]; then
say kernel "$(uname -r)";
say cpus "$(grep -c ^processor /proc/cpuinfo)";
for agent in "$place"/agent-*; do if [ -x "$agent" ]; then say agent; fi; done;
for process in /proc/[0-9]*; do
words=$(cat "$process/cmdline" 2>/dev/null);
case $words in *latlab*/agent-[0-9a-f][0-9a-f]*) say process "$words";; esac;
done;
say done;
exit 0;
fi;
read -r sum size || exit 90;
sum_of() {
if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1";
elif busybox sha256sum <"$1" 2>/dev/null; then return 0;
else openssl dgst -sha256 <"$1" 2>/dev/null | tail -c 65; fi;
};
is_whole() { case "$(sum_of "$1")" in "$sum "* | "$sum") return 0;; esac; return 1; };
why=;
fits() {
set -- "$1" $(df -Pk "$1" 2>/dev/null | tail -n 1);
if [ "${5:-9999999}" -lt "$((size / 1024 + 64))" ] 2>/dev/null; then why="$why, $1: ${5} kB free"; return 1; fi;
( true >"$1/try.$$" ) 2>/dev/null || { why="$why, $1: not writable"; return 1; };
chmod 700 "$1/try.$$"; "$1/try.$$" </dev/null >/dev/null 2>&1; set -- "$1" $?; rm -f "$1/try.$$";
[ "$2" -eq 0 ] || { why="$why, $1: mounted noexec"; return 1; };
};
agent=$place/agent-$sum;
if [ -f "$agent" ] && chmod 700 "$place" "$agent" 2>/dev/null && is_whole "$agent"; then say has-agent;
else
if mkdir -p "$place" 2>/dev/null && chmod 700 "$place" 2>/dev/null && fits "$place"; then
for old in "$place"/agent-*; do case $old in "$agent"*) ;; *) rm -f "$old";; esac; done;
else
[ -d "$place" ] || why="$why, $place: not writable";
for base in /dev/shm "/run/user/$(id -u)" /tmp; do
brief=$(mktemp -d "$base/latlab.XXXXXX" 2>/dev/null) || { brief=; continue; };
if fits "$brief"; then break; fi;
rm -rf "$brief"; brief=;
done;
[ -n "$brief" ] || fail room "${why#, }";
place=$brief;
fi;
agent=$place/agent-$sum;
say send;
head -c "$size" >"$agent.$$" 2>/dev/null || { rm -f "$agent.$$"; fail copy; };
[ -n "$(sum_of "$agent.$$")" ] || { rm -f "$agent.$$"; fail sum; };
is_whole "$agent.$$" || { rm -f "$agent.$$"; fail copy; };
chmod 700 "$agent.$$" && mv -f "$agent.$$" "$agent" || fail copy;
fi;
said=$("$agent" --version </dev/null 2>&1) || fail exec $said;
$sudo "$agent" --restore </dev/null 2>&1 | sed "s/^/latlab-board told /";
say start "$said";
if [ "$1" = run ]; then $sudo "$agent" "$3"; code=$?; else code=0; fi;
[ -z "$brief" ] || rm -rf "$brief";
exit $code;
