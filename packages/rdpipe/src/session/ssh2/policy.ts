/** Refuses a connection whose configuration requires something that ssh2 cannot do. */
import { printable, shorten } from '../../model/text.ts';
import { destinationOf } from '../destination.ts';
import { sessionError } from '../errors.ts';
import { readSshConfig } from '../openssh/config.ts';
import type { Target } from '../resolve.ts';
import type { SessionSettings } from '../settings.ts';
import { matchesPatterns } from './host-pattern.ts';
import { SSH_KEYWORDS, type Treatment } from './keywords.ts';

type Config = Target['config'];

/**
 * Checks every keyword against SSH_KEYWORDS. A keyword that the table lacks, such as one of a newer ssh, is harmless
 * only with the default value of this machine's ssh.
 * @throws SessionError naming the first keyword that requires more.
 */
export async function refuseUnsupported(target: Target, settings: SessionSettings): Promise<void> {
  const { config } = target;
  const asking = [...config.keys()].filter((keyword) => asksForMore(keyword, config) && !isPassedOver(keyword, config));
  if (asking.length === 0) return;
  const usual = await usualConfig(settings);
  const unfit = asking.find((keyword) => !isSame(config.get(keyword), usual.get(keyword)));
  if (unfit === undefined) return;
  const value = shorten(printable(config.get(unfit)?.join(' ') ?? ''), LONGEST_VALUE);
  const next = settings.ssh === undefined ? 'remove it, or install ssh' : 'use --ssh openssh';
  throw sessionError(
    target.destination,
    'unreachable',
    `ssh2 cannot honour ${nameOf(unfit)} ${value} in its configuration; ${next}`,
  );
}

const LONGEST_VALUE = 80;

/** By keyword in lower case. */
const TREATMENTS: ReadonlyMap<string, Treatment> = new Map(
  Object.entries(SSH_KEYWORDS).map(([keyword, treatment]) => [keyword.toLowerCase(), treatment]),
);

function asksForMore(keyword: string, config: Config): boolean {
  const treatment = TREATMENTS.get(keyword);
  if (treatment === undefined) return true;
  if (!('refusedUnless' in treatment)) return false;
  return config.get(keyword)?.some((value) => !treatment.refusedUnless.includes(value.toLowerCase())) === true;
}

/** ssh itself ignores the keywords that IgnoreUnknown names; without ssh, this function does. */
function isPassedOver(keyword: string, config: Config): boolean {
  const patterns = config.get('ignoreunknown')?.flatMap((value) => value.split(',')) ?? [];
  return !TREATMENTS.has(keyword) && matchesPatterns(keyword, patterns);
}

/** Returns the defaults of this machine's ssh. */
async function usualConfig({ ssh, signal }: SessionSettings): Promise<Config> {
  if (ssh === undefined) return new Map();
  const anyHost = { name: 'host', user: undefined, label: 'host' };
  return readSshConfig(ssh, destinationOf(anyHost, { configFile: 'none', options: [] }), signal);
}

function isSame(values: readonly string[] = [], others: readonly string[] = []): boolean {
  return values.join('\n') === others.join('\n');
}

/** Returns the keyword as ssh_config(5) writes it. */
function nameOf(keyword: string): string {
  return Object.keys(SSH_KEYWORDS).find((name) => name.toLowerCase() === keyword) ?? printable(keyword);
}
