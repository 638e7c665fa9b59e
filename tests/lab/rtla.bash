# rtla in the guests of guest.bash, to be sourced after it. Some packages are kept in $packages.
packages=$PWD/target/lab

# A separate apt, which knows Debian 13 whatever this machine is, and installs nothing.
our_apt() {
    apt-get -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
        -o Dir::State::status=/dev/null -o Dir::State::lists="$packages/lists" -o Dir::Cache="$packages" \
        -o Dir::Etc::sourcelist="$packages/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o APT::Sandbox::User= "$@"
}

# The packages of rtla 6.12, which also knows older kernels, and of its libraries.
rtla=(libc6 libgcc-s1 libtraceevent1 libtracefs1 rtla)
kept() { find "$packages/$1" -name '*.deb' -mtime -7 2>/dev/null | sort | tail -n 1; }
download() {
    local mirror name
    mkdir -p "$packages/lists/partial" "$packages/archives/partial"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
        grep -v security | head -n 1)
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" \
        >"$packages/sources.list"
    our_apt update || return 1
    for name in "${rtla[@]}"; do
        rm -rf "${packages:?}/$name" && mkdir "$packages/$name" && (cd "$packages/$name" && our_apt download "$name") ||
            return 1
        # The time of the download, not of the package.
        touch "$packages/$name"/*.deb
    done
}

# Gets rtla and unpacks it in $guest, or prints what is skipped without it: rtla_in_guest WHAT
rtla_in_guest() {
    local name
    for name in "${rtla[@]}"; do
        [ -n "$(kept "$name")" ] || { download >"$here/apt" 2>&1 ||
            skip "$1: rtla cannot be had: $(tail -n 1 "$here/apt")"; break; }
    done
    mkdir -p "$guest"/usr/{bin,lib,lib64}
    ln -s usr/lib "$guest/lib"
    ln -s usr/lib64 "$guest/lib64"
    for name in "${rtla[@]}"; do
        dpkg-deb --fsys-tarfile "$(kept "$name")" |
            tar -x -C "$guest" --keep-directory-symlink --exclude='*/gconv/*' --exclude='./usr/share/*'
    done
}
