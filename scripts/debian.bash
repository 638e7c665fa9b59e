# A minimal fresh Debian of this machine's release; to be sourced in the root of the repository. Needs root
# and debootstrap, whose output is kept for a week.

# The mirror from which this machine's apt gets its release: mirror RELEASE.
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
