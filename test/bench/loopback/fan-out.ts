// SPDX-License-Identifier: Apache-2.0
// A run that carries `$STREAM` to many hosts: the file, the memory for its copies, and the comparison after the run.
import { type Case, MIB, nothing } from '../case.ts';
import { here } from './setup.ts';

export interface FanOut {
  readonly name: string;
  readonly command: string;
  readonly width: number;
  readonly mib: number;
  /** The copy of a host, a word of bash with `$host` in it. Default: a file in the directory `$OUTPUTS`. */
  readonly copy?: string;
}

/** The rate is that of all hosts together. */
export function fanOut({ name, command, width, mib, copy = '"$OUTPUTS/$host"' }: FanOut): Case {
  const remove = `for host in ${hosts(width)}; do rm -f ${copy}; done`;
  return {
    name,
    parts: [here(command)],
    bytes: width * mib * MIB,
    before: ['mkdir -p "$OUTPUTS"', stream(mib * MIB), remove, backed(width)].join(' && '),
    after: `for host in ${hosts(width)}; do cmp "$STREAM" ${copy} || exit; done; ${remove}`,
    read: nothing,
  };
}

/** In bash: h1, h2 and so on. */
export function hosts(width: number): string {
  return `h{1..${width}}`;
}

/** In bash: the beginning of `$SOURCE` becomes what is sent. */
export function stream(bytes: number): string {
  return `head -c ${bytes} "$SOURCE" > "$STREAM"`;
}

/**
 * In bash: as much memory as the copies need was in use a moment ago. Where this machine is a virtual one, it gives
 * free memory back to its host after some seconds, and pages that it must get from there first cost more than the run.
 */
function backed(width: number): string {
  const file = '"$OUTPUTS/memory.$number"';
  const numbers = `{1..${width}}`;
  return `for number in ${numbers}; do cp "$STREAM" ${file}; done; for number in ${numbers}; do rm ${file}; done`;
}
