# What the tests of `latlab cyclictest` share, to be sourced after common.bash.

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: cyclictest: real-time priority needs root"
    exit 0
fi
have "cyclictest against the real one" cyclictest || exit 0
export LATLAB_RUNS=$here/runs
cd "$here" || exit 1

ours() { "$program" cyclictest "$@"; }
