// SPDX-License-Identifier: Apache-2.0
// Processor usage of a machine between two readings of the first line of /proc/stat.
import { readFileSync } from 'node:fs';

/** USER_HZ of Linux on the supported machines. */
export const TICKS_A_SECOND = 100;
const BEFORE = '/dev/shm/before';
const AFTER = '/dev/shm/after';

export interface Work {
  readonly userS: number;
  /** Includes the time in interrupts. */
  readonly sysS: number;
  /** Share of all processors' time, 0 to 1. */
  readonly busy: number;
}

/** sh commands that store a reading before and after the measured work. */
export const NOTE_BEFORE = note(BEFORE);
export const NOTE_AFTER = note(AFTER);
export const FORGET_NOTES = `rm -f ${BEFORE} ${AFTER}`;
/** Prints both readings, or nothing if none was stored. */
export const TELL_NOTES = `test ! -e ${AFTER} || cat ${BEFORE} ${AFTER}`;

/** An sh command line between the two readings; keeps its status. */
export function noted(command: string): string {
  return `${NOTE_BEFORE}; ${command}; ended=$?; ${NOTE_AFTER}; exit $ended`;
}

export function readingHere(): string {
  return readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '';
}

export function workBetween(before: string, after: string): Work {
  const from = ticksIn(before);
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = ticksIn(after).map(
    (ticks, index) => ticks - (from[index] ?? 0),
  );
  const worked = user + nice + system + irq + softirq;
  return {
    userS: (user + nice) / TICKS_A_SECOND,
    sysS: (system + irq + softirq) / TICKS_A_SECOND,
    busy: worked / Math.max(1, worked + idle + iowait + steal),
  };
}

function note(file: string): string {
  return `read -r line < /proc/stat; echo "$line" > ${file}`;
}

function ticksIn(line: string): number[] {
  const [name, ...ticks] = line.trim().split(/\s+/);
  if (name !== 'cpu' || ticks.length < 8) throw new Error(`not the first line of /proc/stat: ${line}`);
  return ticks.map(Number);
}
