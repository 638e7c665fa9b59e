# A fresh Debian of this machine's release with the least that there can be; to be sourced where the
# root of the repository is. Takes root and debootstrap; what debootstrap made is kept for a week.

# The mirror that this machine's apt takes its release from: mirror RELEASE.
mirror() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$1" '$2 == release && $3 == "main" { print $1; exit }'
}

# Unpacks it: fresh_debian FOLDER.
fresh_debian() {
    local release kept new
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    kept=$PWD/target/debian-$release.tar
    if [ -z "$(find "$kept" -mtime -7 2>/dev/null)" ]; then
        new=$(mktemp -d) && mkdir -p target || return 1
        debootstrap --variant=minbase "$release" "$new/root" "$(mirror "$release")" &&
            tar --numeric-owner -C "$new/root" -cf "$new/tar" . && mv "$new/tar" "$kept" ||
            { rm -rf "$new"; return 1; }
        rm -rf "$new"
    fi
    mkdir -p "$1" && tar --numeric-owner -C "$1" -xpf "$kept"
}
