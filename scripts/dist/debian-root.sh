#!/bin/sh
# A Debian in a directory, in which programs are built. Runs as root; the mounts end with each command.
#   debian-root.sh make DIRECTORY RELEASE MIRROR SECURITY_MIRROR ARCHITECTURE PACKAGE...
#   debian-root.sh run DIRECTORY CHECKOUT USER:GROUP COMMAND...      in CHECKOUT, which is /rdpipe there
#   debian-root.sh remove DIRECTORY
set -e
verb=$1 directory=$2
shift 2

within() { unshare --mount --pid --fork --kill-child -- sh -ec "$@"; }

case $verb in
  make)
    release=$1 mirror=$2 security=$3 architecture=$4
    shift 4
    within 'exec debootstrap --variant=minbase "$@"' debootstrap "$release" "$directory" "$mirror"
    chmod 755 "$directory"
    mkdir "$directory/rdpipe"
    cp /etc/resolv.conf /etc/hosts "$directory/etc/"
    cat >"$directory/etc/apt/sources.list" <<END
deb $mirror $release main
deb $mirror $release-updates main
deb $security $release-security main
END
    within 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" sh -ec "
      export DEBIAN_FRONTEND=noninteractive
      dpkg --add-architecture \"\$1\"
      shift
      apt-get -q update
      apt-get -qy upgrade
      apt-get -qy install --no-install-recommends \"\$@\"" sh "$@"' "$directory" "$architecture" "$@"
    ;;
  run)
    within 'mount --bind "$1" "$0/rdpipe"; mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"
      user=$2
      shift 2
      exec chroot --userspec="$user" "$0" env -C /rdpipe "$@"' "$directory" "$@"
    ;;
  remove) rm -rf --one-file-system "$directory" ;;
esac
