#!/usr/bin/env bash
# Provides the image in which `sam local` runs functions. If the image of AWS exists or can be
# pulled, prints nothing, because sam uses it by default. If no registry can be reached, or with
# SAM_IMAGE=stand-in, creates a stand-in and prints its name, for --invoke-image. If neither is
# possible, prints the reason in one line and exits with status 3.
#
# The stand-in is a static busybox with the folders of Lambda. That is enough for static binaries
# and for sam, which adds its runtime emulator. It has no libc, certificates or time zones.
set -euo pipefail
cd "$(dirname "$0")/.."

aws=public.ecr.aws/lambda/provided:al2023-x86_64
stand_in=toggleadmin/provided
recipe=1 # version of the stand-in: raise it when make_stand_in changes

give_up() {
    echo "$1"
    exit 3
}

has_aws() {
    docker image inspect "$aws" >/dev/null 2>&1 && return
    echo "image: pulling $aws" >&2
    timeout 600 docker pull --quiet "$aws" >/dev/null 2>&1
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
    echo "image: $aws is not available, creating $stand_in" >&2
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
    # Also removes the image that sam derived from an older one.
    docker image rm "$stand_in:rapid-x86_64" "$stand_in:latest" >/dev/null 2>&1 || true
    tar -C "$root" --numeric-owner --owner=0 --group=0 -cf - . | docker import --platform linux/amd64 \
        --change 'ENV PATH=/bin LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime' --change 'WORKDIR /var/task' \
        --change "LABEL recipe=$recipe" - "$stand_in:latest" >/dev/null
}

if [ "${SAM_IMAGE:-}" != stand-in ] && has_aws; then
    exit
fi
if [ "$(docker image inspect --format '{{.Config.Labels.recipe}}' "$stand_in:latest" 2>/dev/null)" != "$recipe" ]; then
    busybox=$(find_busybox)
    [ -n "$busybox" ] || give_up 'no container registry can be reached, and there is no static busybox to create an image from'
    make_stand_in "$busybox"
fi
echo "$stand_in:latest"
