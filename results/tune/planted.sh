#!/usr/bin/env bash
# A search on this machine for planted effects: 21 settings of no consequence, of which a planted load reads 7. Three
# help, two hurt, two help only together, fourteen do nothing. The answer goes to FOLDER.
set -euo pipefail
folder=${1:?usage: planted.sh FOLDER}
program=${LATLAB:-target/latlab}
conf=/proc/sys/net/ipv4/conf/lo
names=(log_martians send_redirects accept_redirects secure_redirects shared_media arp_accept arp_announce arp_filter
    arp_ignore arp_notify accept_source_route bootp_relay drop_gratuitous_arp drop_unicast_in_l2_multicast
    ignore_routes_with_linkdown promote_secondaries proxy_arp_pvlan src_valid_mark arp_evict_nocarrier
    accept_local medium_id)
other() { case $(cat "$conf/$1") in 0) echo 1 ;; *) echo 0 ;; esac; }
on() { echo "$conf/$1:$(other "$1")"; }
mkdir -p "$folder"
for name in "${names[@]}"; do
    printf '[%s]\nset = ["%s/%s=%s"]\n' "$name" $conf "$name" "$(other "$name")"
done >"$folder/settings.toml"
sha256sum $conf/* >"$folder/before"
effects="$(on log_martians)=0.6 $(on send_redirects)=0.7 $(on accept_redirects)=0.75 $(on secure_redirects)=1.5
    $(on shared_media)=1.35 $(on arp_accept)+$(on arp_filter)=0.5"
"$program" tune --cpus 1 --warm-up 300ms --slot "${SLOT:-2s}" --for "${FOR:-12min}" --settings "$folder/settings.toml" \
    --only "$(IFS=,; echo "${names[*]}")" --out "$folder/runs" --format json ${QUIET:+--quiet} \
    --load "command,run=exec python3 $PWD/tests/planted_load.py 1 400 $(echo $effects)" >"$folder/tune.json" || [ $? = 4 ]
sha256sum --quiet --check "$folder/before"
"$program" show --out "$folder/runs" last
