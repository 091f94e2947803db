/** The configuration of a destination, as `ssh -G` prints it. */
import { printable } from '../../model/text.ts';
import { type Destination, destinationArguments } from '../destination.ts';
import { sessionError } from '../errors.ts';
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
): Promise<ReadonlyMap<string, readonly string[]>> {
  const words = ['-G', ...destinationArguments(destination)];
  const answer = takeConfigAnswer(words);
  if (answer !== undefined) return parseConfig(answer);
  const { code, stdout, stderr } = await runSsh(ssh, words, signal);
  if (code === 0) return parseConfig(stdout);
  const reason = printable(stderr.trim().split('\n')[0] ?? '') || 'ssh rejects its configuration';
  throw sessionError(destination, 'unreachable', reason);
}

function parseConfig(text: string): Map<string, string[]> {
  const config = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const keyword = line.slice(0, space).toLowerCase();
    config.set(keyword, [...(config.get(keyword) ?? []), line.slice(space + 1)]);
  }
  return config;
}
