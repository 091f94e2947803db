/** Decides what to do with the user's standard input and output. */
import { fstatSync, type Stats } from 'node:fs';
import { isatty } from 'node:tty';
import type { Settings } from '../model/settings.ts';
import type { UserStreams } from '../run/open-hosts.ts';

/**
 * Decides by fstat alone: the descriptors carry payload. A closed one was opened on /dev/null by node.
 */
export function userStreams({ stdin }: Pick<Settings, 'stdin'>): UserStreams {
  const hasInput = stdin !== 'none' && !isatty(0) && !isNullDevice(fstatSync(0));
  return { stdin: hasInput ? 'send' : 'null', stdout: isNullDevice(fstatSync(1)) ? 'drop' : 'arrive' };
}

export function isFile(descriptor: number): boolean {
  return fstatSync(descriptor).isFile();
}

/** Character device 1, 3. */
const NULL_DEVICE = 0x103;

function isNullDevice(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === NULL_DEVICE;
}
