# Goes on in a mount namespace of its own where root may have one; to be sourced first. Disks can be
# mounted there, and no other latlab of the machine is known.
if [ "$(id -u)" = 0 ] && [ -z "${ALONE:-}" ] && unshare -m true 2>/dev/null; then
    ALONE=1 exec unshare -m "$0" "$@"
fi
if [ -n "${ALONE:-}" ]; then
    mount -t tmpfs none /run && mkdir /run/lock || exit 1
fi
