/** Decides how the user's standard input and output are used. */
import { fstatSync, type Stats } from 'node:fs';
import { isatty } from 'node:tty';
import type { Settings } from '../model/settings.ts';
import type { UserStreams } from '../run/open-hosts.ts';

/**
 * Whether input is sent and output arrives. Only uses fstat, because the descriptors carry payload. Node has opened
 * closed descriptors on /dev/null.
 */
export function userStreams({ stdin }: Pick<Settings, 'stdin'>): UserStreams {
  const hasInput = stdin !== 'none' && !isatty(0) && !isNullDevice(fstatSync(0));
  return { stdin: hasInput ? 'send' : 'null', stdout: isNullDevice(fstatSync(1)) ? 'drop' : 'arrive' };
}

/** True if the descriptor is a regular file. */
export function isFile(descriptor: number): boolean {
  return fstatSync(descriptor).isFile();
}

/** The device number of /dev/null: major 1, minor 3. */
const NULL_DEVICE = 0x103;

function isNullDevice(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === NULL_DEVICE;
}
