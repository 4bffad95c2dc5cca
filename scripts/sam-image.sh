#!/usr/bin/env bash
# Provides the image in which `sam local` runs functions on this machine. If no registry can be
# reached, gives a stand-in the name of the image of AWS. A later run that reaches the registry
# replaces it. If neither is possible, prints the reason in one line and exits with status 3.
#
# The stand-in is a static busybox with the folders of Lambda. That is enough for static binaries
# and for sam, which adds its runtime emulator. It has no libc, certificates or time zones.
set -euo pipefail
cd "$(dirname "$0")/.."

case $(uname -m) in
arm64 | aarch64) architecture=arm64 platform=linux/arm64 ;;
*) architecture=x86_64 platform=linux/amd64 ;;
esac
repository=public.ecr.aws/lambda/provided
image=$repository:al2023-$architecture
derived=$repository:al2023-rapid-$architecture # the image that sam makes of it
recipe=1 # version of the stand-in: raise it when make_stand_in changes

give_up() {
    echo "$1"
    exit 3
}

# Prints the version of the stand-in, or nothing for the image of AWS. Fails if there is no image.
version() { docker image inspect --format '{{or (index .Config.Labels "recipe") ""}}' "$image" 2>/dev/null; }

pull() {
    echo "image: pulling $image" >&2
    docker pull --quiet "$image" >/dev/null 2>&1
}

# Prints the path of a static busybox. If none is installed, unpacks one.
find_busybox() {
    local path folder=.cache/tools/busybox
    path=$(command -v busybox || true)
    if [ -n "$path" ] && ! ldd "$path" >/dev/null 2>&1; then
        echo "$path"
        return
    fi
    if [ ! -x "$folder/busybox" ]; then
        command -v apt-get >/dev/null || return
        rm -rf "$folder"
        mkdir -p "$folder"
        (cd "$folder" && ../../../scripts/apt.sh download busybox-static >&2) || return
        dpkg-deb --fsys-tarfile "$folder"/busybox-static_*.deb | tar -xO --wildcards './*bin/busybox' >"$folder/busybox"
        chmod 755 "$folder/busybox"
    fi
    echo "$folder/busybox"
}

make_stand_in() { # PATH of busybox
    local root applet
    echo "image: creating a stand-in for $image" >&2
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    root=$work/root
    mkdir -p "$root"/{bin,etc,opt,proc,sys,dev,tmp,var/task,var/runtime,var/rapid}
    chmod 755 "$root"
    chmod 1777 "$root/tmp"
    echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
    echo 'root:x:0:' >"$root/etc/group"
    install -m 755 "$1" "$root/bin/busybox"
    for applet in $("$1" --list); do
        [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
    done
    docker image rm "$derived" "$image" >/dev/null 2>&1 || true
    tar -C "$root" --numeric-owner --owner=0 --group=0 -cf - . | docker import --platform "$platform" \
        --change 'ENV PATH=/bin LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime' --change 'WORKDIR /var/task' \
        --change "LABEL recipe=$recipe" - "$image" >/dev/null
}

found=$(version) || found=none
[ -n "$found" ] || exit 0
if pull; then
    docker image rm "$derived" >/dev/null 2>&1 || true
    exit
fi
[ "$found" != "$recipe" ] || exit 0
[ "$(uname -s)" = Linux ] || give_up "docker pull $image fails"
busybox=$(find_busybox)
[ -n "$busybox" ] || give_up "docker pull $image fails, and there is no static busybox to create an image from"
make_stand_in "$busybox"
