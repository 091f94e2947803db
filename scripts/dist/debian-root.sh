#!/bin/sh
# A Debian in a directory, in which programs are built. Runs as root; the mounts end with each command.
# Standard input ends when the program that started this ends, also if it is killed; then each command ends.
#   debian-root.sh keep DIRECTORY      waits for the end of standard input, then removes DIRECTORY
#   debian-root.sh make DIRECTORY RELEASE MIRROR SECURITY_MIRROR ARCHITECTURE PACKAGE...
#   debian-root.sh run DIRECTORY CHECKOUT USER:GROUP COMMAND...      in CHECKOUT, which is /rdpipe there
set -e
verb=$1 directory=$2
shift 2

within() {
  exec 3<&0
  unshare --mount --pid --fork --kill-child -- sh -ec "$@" </dev/null 3<&- &
  command=$!
  { read -r _ || kill -KILL "$command"; } <&3 >/dev/null 2>&1 &
  status=0
  wait "$command" || status=$?
  kill "$!"
  return "$status"
}

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
  keep)
    trap '' HUP INT TERM
    read -r _ || :
    # The commands may still be ending.
    for _ in 1 2 3 4 5 6 7 8 9; do
      rm -rf --one-file-system "$directory" 2>/dev/null && exit
      sleep 1
    done
    rm -rf --one-file-system "$directory"
    ;;
esac
