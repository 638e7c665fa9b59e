#!/usr/bin/env bash
# Kernel locks show what a live run has changed: any latlab undoes a change only if no live run holds it, two runs
# share an equal value, and a lock file is trusted only if no other user can have written it.
# Invariant (undo): No latlab touches what a live run holds; what a dead one left is restored, and forgotten only
# then.
. "$(dirname "$0")/common.bash"
name=fs.lease-break-time
. tests/ownership.bash

# Two runs that set one file; $1 says how each ends: `a` and `b` by an end, `A` and `B` by a kill.
equal() {
    local end last
    start a $one && start b $one || return 1
    for end in $(grep -o . <<<"$1"); do
        is $one || { echo "expected: $one until the last ends"; return 1; }
        case $end in
            [ab]) stop "$end" ;;
            A) murder a ;;
            B) murder b ;;
        esac || return 1
        last=$end
        "$program" list >"$here/out" 2>&1 || return 1
    done
    until_holds 10 "what was there before both" is "$first" && records_are 0
}
for order in ab ba Ab bA AB BA; do
    attempt "two runs that set one file to one value: ends $order" equal $order
done

other_value() {
    start a $one || return 1
    "$program" run "${ordinary[@]}" --for 1s --set $name=$two >"$here/out" 2>&1
    code=$?
    cat "$here/out"
    expect "exit code 3" [ $code = 3 ] && expect "one line" [ "$(wc -l <"$here/out")" = 1 ] &&
        expect "who has it" \
            grep -q -e "--set $file=$two: '.*run.*--name a .*(process .* holds it at '$one'.*wait for it" "$here/out" &&
        expect "no change" is $one && stop a && is "$first" && records_are 0
}
attempt "another value for a file that a run has set is refused, with the run that has it" other_value

already_so() {
    start a "$first" || return 1
    "$program" run "${ordinary[@]}" --for 1s --set $name=$two >"$here/out" 2>&1
    expect "exit code 3" [ $? = 3 ] && stop a && is "$first"
}
attempt "so is one for a file that held already what a run asked" already_so

damaged() {
    [ -d $records ] || mkdir $records
    printf 'file %s\nbefore \xff\xfe\nafter %s\n' $file $one >$records/undo-damaged
    "$program" list 2>"$here/out" >/dev/null
    expect "one line" [ "$(grep -c "$records/undo-damaged" "$here/out")" = 1 ] || { cat "$here/out"; return 1; }
    restore
    rm -f $records/undo-damaged
    expect "exit code 3" [ $code = 3 ] &&
        expect "the name of the record" grep -q "$records/undo-damaged" "$here/restored"
}
attempt "a record that cannot be read is reported" damaged

# Planted files in place of a lock file or its folder are reported, and stay.
planted() {
    local how
    start left $one && murder left || return 1
    local record
    record=$(find $records -name 'undo-*')
    cp "$record" "$here/record"
    for how in cut link pipe stranger lock folder; do
        case $how in
            cut) head -c -6 "$here/record" >"$record" ;;
            link) ln -sf "$here/record" "$record" ;;
            pipe) rm "$record" && mkfifo "$record" ;;
            stranger) rm "$record" && cp "$here/record" "$record" && chown 65534 "$record" ;;
            lock) cp "$here/record" "$record" && chown 0 "$record" && rm $records/lock && mkfifo $records/lock ;;
            folder) rm $records/lock && chmod 777 $records ;;
        esac
        timeout 60 "$program" doctor --restore >"$here/out" 2>&1
        code=$?
        cat "$here/out"
        expect "exit code 3 for $how" [ $code = 3 ] && expect "a line of it" grep -q "$records" "$here/out" &&
            expect "it stays" [ -e "$record" ] && expect "nothing changed" is $one || return 1
    done
    chmod 755 $records
    restore
    expect "it is put back when it can be believed" is "$first" && [ $code = 0 ] && records_are 0
}
attempt "what is no record is reported, and what it may stand for is not forgotten" planted
chmod 755 $records

goes_on() {
    start on $one || return 1
    restore
    expect "a line of who goes on" grep -q "run .*--name on .*(process .* goes on, and restores" "$here/restored" &&
        expect "exit code 0" [ $code = 0 ] && is $one && stop on && is "$first"
}
attempt "a command that asks what is to be restored hears which runs go on" goes_on

# A user without rights takes every lock that it may take, and root still measures.
locked_by_others() {
    python3 tests/checks.py hold_locks &
    local locker=$! which
    for which in early late; do
        "$program" run --policy other --idle-states system --quiet --for 1s --set $name=$one \
            --name $which >"$here/out" 2>&1
        code=$?
        [ $code = 0 ] || { cat "$here/out"; break; }
    done
    kill $locker
    expect "exit code 0, not $code" [ $code = 0 ] && is "$first" && records_are 0
}
attempt "no other user can hold the CPUs or a record" locked_by_others

exit $status
