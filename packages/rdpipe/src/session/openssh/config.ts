/** The configuration of a destination, as `ssh -G` prints it. */
import type { SessionError } from '../../model/errors.ts';
import { printable } from '../../model/text.ts';
import { type Destination, destinationArguments } from '../destination.ts';
import { sessionError } from '../errors.ts';
import type { SshConfig } from '../resolve.ts';
import { takeConfigAnswer } from './config-answer.ts';
import { runSsh, type SshProgram } from './program.ts';

/**
 * Asks ssh for the configuration.
 * @throws SessionError if ssh rejects it; the signal's reason.
 */
export async function readSshConfig(
  ssh: SshProgram,
  destination: Destination,
  signal: AbortSignal,
): Promise<SshConfig> {
  const words = ['-G', ...destinationArguments(destination)];
  const answer = takeConfigAnswer(words);
  if (answer !== undefined) return parseConfig(answer);
  const { code, stdout, stderr } = await runSsh(ssh, words, signal);
  if (code === 0) return parseConfig(stdout);
  throw rejectedError(destination, stderr);
}

/** Returns the error for a destination whose configuration ssh rejected with these messages. */
export function rejectedError(destination: Destination, messages: string): SessionError {
  const reason = printable(messages.trim().split('\n')[0] ?? '') || 'ssh rejects its configuration';
  return sessionError(destination, 'unreachable', reason);
}

/** Parses the output of `ssh -G`. */
export function parseConfig(text: string): SshConfig {
  const config = new Map<string, readonly string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const { keyword, values } = settingOf(line, space);
    const before = config.get(keyword);
    config.set(keyword, before === undefined ? values : [...before, ...values]);
  }
  return config;
}

interface Setting {
  readonly keyword: string;
  readonly values: readonly string[];
}

/** Most of the hundred lines are the same for all hosts: each is in memory once. */
const SETTINGS = new Map<string, Setting>();

function settingOf(line: string, space: number): Setting {
  const known = SETTINGS.get(line);
  if (known !== undefined) return known;
  const setting = { keyword: line.slice(0, space).toLowerCase(), values: [line.slice(space + 1)] };
  SETTINGS.set(line, setting);
  return setting;
}
