// SPDX-License-Identifier: Apache-2.0
// A case that copies `$STREAM` to many hosts: creates the file, prepares memory for the copies,
// and compares them after the run.
import { type Case, MIB, nothing } from '../case.ts';
import { here } from './setup.ts';

export interface FanOut {
  readonly name: string;
  readonly command: string;
  readonly width: number;
  readonly mib: number;
  /** Path of a host's copy, a word of bash with `$host` in it. Default: a file in the directory `$OUTPUTS`. */
  readonly copy?: string;
  /** A host that must not have a copy. */
  readonly lost?: string;
}

/** The rate is the sum of all hosts. */
export function fanOut({ name, command, width, mib, copy = '"$OUTPUTS/$host"', lost = '' }: FanOut): Case {
  const remove = `for host in ${hosts(width)}; do rm -f ${copy}; done`;
  return {
    name,
    parts: [here(command)],
    bytes: width * mib * MIB,
    before: ['mkdir -p "$OUTPUTS"', stream(mib * MIB), remove, backed(width)].join(' && '),
    after: `for host in ${hosts(width)}; do
  if [ $host = '${lost}' ]; then ! [ -e ${copy} ]; else cmp "$STREAM" ${copy}; fi || exit
done
${remove}`,
    read: nothing,
  };
}

/** Bash words for h1, h2 and so on. */
export function hosts(width: number): string {
  return `h{1..${width}}`;
}

/** Bash command that creates `$STREAM` from the beginning of `$SOURCE`. */
export function stream(bytes: number): string {
  return `head -c ${bytes} "$SOURCE" > "$STREAM"`;
}

/**
 * Bash command that uses and frees as much memory as the copies need. A virtual machine returns free memory to its host
 * after some seconds, and getting the pages back would take longer than the run.
 */
function backed(width: number): string {
  const file = '"$OUTPUTS/memory.$number"';
  const numbers = `{1..${width}}`;
  return `for number in ${numbers}; do cp "$STREAM" ${file}; done; for number in ${numbers}; do rm ${file}; done`;
}
