// SPDX-License-Identifier: Apache-2.0
// For scripts in place of rdtree: functions of sh that move a short stream through the ring that `--ring` gives.

/**
 * `into_ring FILE` puts a file into the ring when rdsend has made it; the exit of the script ends the stream.
 * `from_ring` waits for the end of standard input and writes the bytes in the ring to standard output. The bytes begin
 * on the second page of the memory; their number is at the beginning of the first one (shared_ring.c).
 */
export const RING_FUNCTIONS = `
  case " $* " in *' --ring 5 '*) ring=/proc/self/fd/5 ;; *) ring=/proc/self/fd/4 ;; esac
  into_ring() {
    until [ "$(stat -L -c %s $ring)" -gt 4096 ]; do sleep 0.01; done
    dd status=none if="$1" of=$ring bs=4096 seek=1 conv=notrunc
    count=$(stat -c %s "$1")
    for byte in 1 2 3 4 5 6 7 8; do
      printf "\\\\$(printf %03o $((count % 256)))"
      count=$((count / 256))
    done | dd status=none of=$ring conv=notrunc
  }
  from_ring() {
    cat >/dev/null
    dd status=none if=$ring bs=4096 skip=1 | head -c $(od -An -t u8 -N 8 $ring)
  }
`;
