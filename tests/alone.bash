# Goes on in a mount namespace of its own where root may have one; to be sourced first. Disks can be
# mounted there, and no other latlab of the machine is known.
if [ "$(id -u)" = 0 ] && [ -z "${ALONE:-}" ] && unshare -m true 2>/dev/null; then
    ALONE=1 exec unshare -m "$0" "$@"
fi
if [ -n "${ALONE:-}" ]; then
    mount -t tmpfs none /run && mkdir /run/lock || exit 1
fi

# Waits for the run in the background, $run; $code is what it ends with.
finish() {
    wait "$run"
    code=$?
    cat "$here/errors"
}

# Python that knows the run, its threads and the codes of its findings.
holds() {
    python3 -c "
import json, sys
run = json.load(open(sys.argv[1]))
threads = run['threads']
# What the machine does meanwhile is its own.
its_own = '''page-faults throttled frequency-changed temperature-drift steal swapped rival-thread
    load-changed memory-taken smi kernel-event telemetry-dear often-missed'''.split()
codes = [one['code'] for one in run['findings'] if one['code'] not in its_own]
sys.exit(0 if ($1) else json.dumps([run['ended'], run['verdict'], run['losses'], run['findings'], threads])[:3000])" "${2:-$here/run.json}"
}
