#!/usr/bin/env bash
# Installs only what is missing.
# Usage: scripts/setup.sh [build] [lint] [test] [lab] [bench] [dist] [book] [spark]
#   build  a C linker, Rust, and npm for the scripts of the pages
#   lint   additionally for `make check`: rustfmt and clippy
#   test   additionally for `make test`
#   lab    additionally for `make lab`: QEMU, browsers, boards, `make dist`
#   bench  additionally for `make bench`: the other tools, strace, valgrind
#   dist   additionally for `make dist`: three targets, a linker for ARMv7, a builder of wheels
#   book   for `make book`: mdBook, which is compiled in a minute, and mandoc
#   spark  for the Spark cluster of the long form of `make lab`: a Java runtime, and Spark, 500 MB
set -euo pipefail
. "$(dirname "$0")/env.sh"

packages=()
want_rust= want_npm= want_lint= want_test= want_lab= want_dist= want_book= want_spark=
for_pages=()
command -v node >/dev/null || for_pages=(nodejs)
for_dist=(gcc libc6-dev ca-certificates curl git python3 python3-venv xz-utils gcc-arm-linux-gnueabihf
    libc6-dev-armhf-cross binutils-aarch64-linux-gnu binutils-x86-64-linux-gnu "${for_pages[@]}")
for set in "${@:-build}"; do
    case $set in
        build)
            packages+=(gcc libc6-dev ca-certificates curl "${for_pages[@]}")
            want_rust=1 want_npm=1
            ;;
        test)
            packages+=(git perl python3-venv procps strace rt-tests tmux iproute2 gnuplot-nox systemd)
            want_test=1
            ;;
        lab)
            packages+=(file valgrind stress-ng stressapptest chromium fonts-dejavu-core qemu-user-static debootstrap
                man-db make arduino-core-avr gcc-avr avr-libc libsimavr-dev qemu-system-x86
                qemu-system-arm gcc-aarch64-linux-gnu libc6-dev-arm64-cross busybox-static
                e2fsprogs sigrok-cli buildah mandoc openssh-client openssh-server
                dropbear-bin sudo "${for_dist[@]}")
            want_dist=1 want_lab=1
            ;;
        lint) want_lint=1 ;;
        bench) packages+=(python3 strace valgrind rt-tests jitterdebugger) ;;
        dist)
            packages+=("${for_dist[@]}")
            want_rust=1 want_npm=1 want_dist=1
            ;;
        book)
            packages+=(gcc libc6-dev ca-certificates curl git python3 mandoc)
            want_rust=1 want_book=1
            ;;
        spark)
            packages+=(python3 python3-venv openjdk-17-jre-headless)
            want_spark=1
            ;;
        *) die "unknown set '$set'; there are build, lint, test, lab, bench, dist, book and spark" ;;
    esac
done

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs those of the named Debian packages that are missing.
lists_updated=
install_packages() {
    local package missing=()
    if ! command -v apt-get >/dev/null; then
        say "not a Debian system: expecting to find what these packages hold: $*"
        return
    fi
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        die "please run as root: apt-get install ${missing[*]}"
    fi
    say "installing ${missing[*]}"
    [ -n "$lists_updated" ] || as_root apt-get -qq update
    lists_updated=1
    as_root env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
        apt-get -qq install --no-install-recommends "${missing[@]}" >/dev/null
}

# Fetches files, only over TLS: download CURL-OPTION...
download() { curl --proto '=https' --tlsv1.2 -sSf --connect-timeout 15 "$@"; }

. scripts/setup_rust.bash

# If there is no npm, the one that web/package.json names, into target/tools. Debian's brings some
# three hundred packages, so it is used only if this one cannot be fetched or does not run.
install_npm() {
    local version sum folder=target/tools/npm
    has_npm && return
    read -r version sum < <(sed -n 's/.*"packageManager": "npm@\(.*\)+sha512\.\(.*\)".*/\1 \2/p' web/package.json)
    say "unpacking npm $version"
    rm -rf $folder $folder.new
    mkdir -p $folder.new
    if download -o $folder.tgz "https://registry.npmjs.org/npm/-/npm-$version.tgz" &&
        sha512sum --check --status <<<"$sum  $folder.tgz" &&
        tar -xzf $folder.tgz -C $folder.new --strip-components=1 &&
        node $folder.new/bin/npm-cli.js --version >/dev/null 2>&1; then
        mv $folder.new $folder
    else
        rm -rf $folder.new
        say "npm $version cannot be had; taking Debian's"
        install_packages npm
    fi
    rm -f $folder.tgz
}

# Installs the Python packages of a list into .venv if missing: install_python WHY LIST [OPTION...]
install_python() {
    local why=$1 list=scripts/requirements$2.txt there=.venv/requirements$2.txt
    shift 2
    ! cmp -s "$list" "$there" || return 0
    say "installing $why: $(sed -n 's/==.*//p' "$list" | xargs)"
    .venv/bin/python -c 'import pip' 2>/dev/null || python3 -m venv --clear .venv
    .venv/bin/pip install --quiet --disable-pip-version-check --requirement "$list" "$@"
    cp "$list" "$there"
}

# Fetch Rust from its site while apt fetches the packages.
rust=
if [ -n "$want_rust$want_lint" ] && command -v apt-get >/dev/null && ! command -v rustup >/dev/null && ! find_rust; then
    install_packages ca-certificates curl
    say "installing Rust $rust_pinned by rustup"
    (PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH && install_rustup && install_pinned) &
    rust=$!
fi
[ ${#packages[@]} -eq 0 ] || install_packages $(printf '%s\n' "${packages[@]}" | sort -u)
[ -z "$rust" ] || wait "$rust" || true

[ -z "$want_rust$want_lint" ] || install_rust

[ -z "$want_npm" ] || install_npm

if [ -n "$want_dist" ]; then
    for target in $(cut -d' ' -f2 <<<"$architectures"); do
        has_std "$target" || rustup target add "$target" >/dev/null 2>&1 ||
            say "no standard library for $target can be had: 'make dist' needs it"
    done
fi

if [ -n "$want_lint" ] &&
    { ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; }; then
    if command -v rustup >/dev/null; then
        rustup component add rustfmt clippy
    else
        install_packages rustfmt-web rust-web-clippy
    fi
fi

[ -z "$want_dist" ] || install_python "what builds wheels" -dist
[ -z "$want_test" ] || install_python "what tests read runs with" ""
if [ -n "$want_lab" ]; then
    install_python "what the laboratory's tests are made with" -lab
    # In a separate folder, which tests put first in PYTHONPATH.
    install_python "the pandas of Debian 12" -debian-12 --no-deps --target .venv/debian-12
    install_python "the tables of many runs" -fleet --no-deps --target .venv/fleet
fi
download_package() { apt-get -qq download "$1" 2>/dev/null; }
# A test lets Prometheus scrape `latlab serve`. It is unpacked, not installed, since the package would
# start a server.
unpack_prometheus() {
    local folder=target/tools/prometheus
    [ -x $folder/usr/bin/promtool ] && return
    if ! command -v apt-get >/dev/null; then
        say "not a Debian system: $folder/usr/bin needs prometheus and promtool"
        return
    fi
    say "unpacking prometheus"
    mkdir -p $folder.new
    (cd $folder.new &&
        { download_package prometheus || { as_root apt-get -qq update && download_package prometheus; }; } &&
        dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin && rm prometheus_*.deb)
    mv $folder.new $folder
}
[ -z "$want_lab" ] || unpack_prometheus
[ -z "$want_spark" ] || install_python "the engine of clusters" -spark --no-deps --target .venv/spark
# Without the preview server: only the site is needed.
mdbook=0.5.4
if [ -n "$want_book" ] && [ "$(target/tools/bin/mdbook --version 2>/dev/null)" != "mdbook v$mdbook" ]; then
    say "compiling mdBook"
    CARGO_TARGET_DIR=$root/target/tools/build cargo install --quiet --locked --profile dev --no-default-features \
        --features search --root "$root/target/tools" "mdbook@$mdbook"
    rm -rf target/tools/build
fi
