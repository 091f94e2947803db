/** The shell script of a task of the Slurm step, which runs the channels of one node. */

/** Descriptors of a task that channels can use: a POSIX shell supports only single digits. */
export const SLOTS: readonly number[] = [3, 4, 5, 6, 7, 8, 9];

/** Maximum bytes of a frame: the task reads each frame with one `dd`. */
export const FRAME_MAX_BYTES = 64 * 1024;

/**
 * Input, the same for all tasks: `NODE SLOT open|data|eof|kill BYTES`, a newline, and as many bytes. Output, in lines
 * below 1024 bytes, which Slurm does not split: first `NODE 0 ready JOB.STEP`, then `NODE SLOT out|err BASE64` and
 * `NODE SLOT end STATUS`.
 *
 * A task may not read beyond its frame: `read` takes one byte at a time from a pipe, and `dd` takes exactly the
 * requested bytes. dash, bash and busybox can run the script. A channel's directory of FIFOs is removed as soon as all
 * are open. The script is an argument, since srun's input carries the channels. When that input ends, the inputs of the
 * channels end, and so do their agents.
 */
export const TASK_SCRIPT = `me=$SLURMD_NODENAME
unset TMPDIR
close_slots() { exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; }
pump() {
  while chunk=$(dd bs=49152 count=1 2>/dev/null | base64 -w 900) && [ "$chunk" ]; do
    for line in $chunk; do printf '%s %s %s %s\\n' "$me" "$1" "$2" "$line"; done
  done
}
channel() {
  close_slots
  sh <"$2/in" >"$2/out" 2>"$2/err" & child=$!
  pump "$1" out <"$2/out" & out=$!
  { rm -rf -- "$2"; pump "$1" err; } <"$2/err" & err=$!
  trap 'kill $out $err' TERM
  wait $out
  wait $err
  wait $child
  printf '%s %s end %s\\n' "$me" "$1" $?
}
open() {
  dir=$(mktemp -d) || dir=$(mktemp -d /dev/shm/rdpipe.XXXXXX) || exit 1
  mkfifo -m 600 "$dir/in" "$dir/out" "$dir/err" || exit 1
  channel "$1" "$dir" </dev/null 2>/dev/null &
  eval "channel$1=$!"
  eval "exec $1>\\"\\$dir/in\\""
}
printf '%s 0 ready %s\\n' "$me" "$SLURM_JOB_ID.$SLURM_STEP_ID"
while read -r to slot verb bytes; do
  if [ "$to" != "$me" ]; then
    [ "$bytes" = 0 ] || dd bs="$bytes" count=1 iflag=fullblock >/dev/null 2>&1
    continue
  fi
  case $verb in
  open) open "$slot" ;;
  data) dd bs="$bytes" count=1 iflag=fullblock 2>/dev/null >&"$slot" ;;
  eof) eval "exec $slot>&-" ;;
  kill) eval "exec $slot>&-; kill $channel$slot" 2>/dev/null ;;
  esac
done
close_slots
wait`;
