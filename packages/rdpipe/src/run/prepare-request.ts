/** The `prepare` request to one host: the host's part of a segment, with keys. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { UsageError } from '../model/errors.ts';
import type { Segment, SessionId } from '../model/plan.ts';
import { type AgentRequest, REQUEST_MAX_BYTES } from '../model/protocol.ts';
import { formatBytes } from '../model/units.ts';
import { agentLinks, agentStages, type ChainKeys, keyedLinks, type LinkKeys, signedChains } from '../plan/links.ts';

type Prepare = Extract<AgentRequest, { op: 'prepare' }>;

/** The fields that are the same in every `prepare` of a run. */
export type PrepareSettings = Pick<Prepare, 'lenient' | 'lease_ms' | 'connect_timeout_ms'> & { readonly run: string };

export interface PrepareContext {
  readonly settings: PrepareSettings;
  label(session: SessionId): string;
}

/**
 * Returns the request to the agent of one host. The segment may also contain the parts of other hosts.
 * @throws UsageError if the request is longer than an agent accepts, because of the sources and patterns of a copy.
 */
export function prepareRequest(
  segment: Segment,
  session: SessionId,
  keys: LinkKeys,
  { label, settings: { run, ...settings } }: PrepareContext,
): Prepare {
  const request: Prepare = {
    op: 'prepare',
    segment: segment.number,
    ...settings,
    stages: agentStages(segment, session),
    links: agentLinks(segment, session, keys, run),
  };
  const bytes = Buffer.byteLength(JSON.stringify(request));
  if (bytes > REQUEST_MAX_BYTES) throw tooLong(label(session), bytes);
  return request;
}

function tooLong(host: string, bytes: number): UsageError {
  const sizes = `${formatBytes(bytes)}, at most ${formatBytes(REQUEST_MAX_BYTES)}`;
  return new UsageError(
    `the stages of ${host} are too long for one request: ${sizes} (name fewer files and patterns, or list them in a file: rdcp --files-from FILE)`,
  );
}

const KEY_BYTES = 32;

/** Returns a separate key for every link that native programs carry, and two keys for every signed chain. */
export function makeKeys(segment: Segment): LinkKeys {
  return {
    links: new Map(keyedLinks(segment).map((link) => [link, newKey()])),
    chains: new Map(signedChains(segment).map((head) => [head, newChainKeys()])),
  };
}

/** Returns a random 256-bit key in hexadecimal. */
export function newKey(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}

/** Returns a new Ed25519 key pair. In RFC 8410 both raw keys are the last bytes of their DER forms. */
function newChainKeys(): ChainKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  const tail = (der: Buffer) => der.subarray(-KEY_BYTES).toString('hex');
  return { seed: tail(privateKey), publicKey: tail(publicKey) };
}
