# Holds a labgrid place while its input is open, and releases it then, however the input ended. Its arguments
# are the command line of labgrid-client. Each line of its input is a call, which it answers with the output of
# the call, each line after "|", and then "=" and the exit code.
trap '' HUP INT QUIT TERM PIPE
# So that the output of a call that timed out is read too.
export PYTHONUNBUFFERED=1
place='' token='' tries=0 patience=5
call() {
    limit=$1
    shift
    # The end of endless output is enough.
    said=$({ timeout -k 5 "$limit" "$@" </dev/null 2>&1; echo "=$?"; } | tail -c 1000000)
    code=${said##*=}
    # Strip the final newline.
    said=$(printf '%s' "${said%=*}")
}
while read -r word rest; do
    case $word in
    places) call 60 "$@" -v places ;;
    # Our reservation expires after a minute without a waiting client.
    # shellcheck disable=SC2086
    reserve)
        call 60 "$@" reserve --shell $rest
        [ "$code" != 0 ] || token=${said##*=}
        ;;
    # A wait that times out before labgrid answers loses its reservation, so the next one gets more time.
    wait)
        call "$patience" "$@" wait "$token"
        case $code:$said in 124: | 137:) [ "$patience" -ge 40 ] || patience=$((2 * patience)) ;; esac
        ;;
    acquire)
        # A call that timed out may have acquired the place.
        place=$rest
        call 60 "$@" -p "$place" acquire
        case $code in 0 | 124 | 137) ;; *) place='' ;; esac
        ;;
    show) call 60 "$@" -p "$place" show ;;
    *) said=$word code=2 ;;
    esac
    printf '%s\n' "$said" | sed 's/^/|/' 2>/dev/null
    printf '=%s\n' "$code" 2>/dev/null
done
while [ -n "$place" ]; do
    call 60 "$@" -p "$place" release
    case $code:$said in 0:* | *'is not acquired'* | *'by a different user'* | *'matches nothing'*) break ;; esac
    # The coordinator may be unreachable for a while.
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || break
    sleep 5
done
[ -z "$token" ] || call 60 "$@" cancel-reservation "$token"
