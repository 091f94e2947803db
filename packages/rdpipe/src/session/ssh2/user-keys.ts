/** Decides which keys may log in, and how they may sign. */
import ssh2, {
  type IdentityCallback,
  type OpenSSHAgent,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
} from 'ssh2';
import { configuredNumber } from '../config-values.ts';
import type { Target } from '../resolve.ts';
import { loginAlgorithms } from './algorithms.ts';

/** The default of ssh for RequiredRSASize. */
const USUAL_RSA_BITS = 1024;

/** Returns the required size of RSA keys, in bits. */
export function smallestRsaBits(target: Target): number {
  return Math.max(
    ...['requiredrsasize', 'rsaminsize'].map((keyword) => configuredNumber(target, keyword, USUAL_RSA_BITS)),
  );
}

/** True for an RSA key with fewer bits than required. `key` is a public key in wire format. */
export function isTooShort(target: Target, key: Buffer): boolean {
  const bits = rsaBits(key);
  return bits !== undefined && bits < smallestRsaBits(target);
}

/** True if the key may be tried. ssh2 signs with an RSA key using rsa-sha2-256 if the server supports it. */
export function mayLogIn(target: Target, key: ParsedKey): boolean {
  const wanted = key.type === 'ssh-rsa' ? 'rsa-sha2-256' : key.type;
  return loginAlgorithms(target).includes(wanted) && !isTooShort(target, key.getPublicSSH());
}

/**
 * Returns the key, changed to sign only with listed algorithms: for a server that names no algorithm it knows, ssh2
 * would use SHA-1.
 */
export function signingAsListed(target: Target, key: ParsedKey): ParsedKey {
  const sign = key.sign.bind(key);
  return Object.assign(key, {
    sign: (data: Buffer | string, hash?: string) =>
      isListed(target, hash) ? sign(data, hash as never) : new Error(NOT_LISTED),
  });
}

/** The user's ssh-agent, restricted to keys that may log in. */
export class ChosenKeys extends ssh2.BaseAgent<ParsedKey> {
  readonly #agent: OpenSSHAgent;
  readonly #target: Target;

  constructor(path: string, target: Target) {
    super();
    this.#agent = new ssh2.OpenSSHAgent(path);
    this.#target = target;
  }

  getIdentities(done: IdentityCallback<ParsedKey>): void {
    this.#agent.getIdentities((error, keys) => {
      const parsed = keys?.filter((key): key is ParsedKey => 'getPublicSSH' in key);
      done(
        error,
        parsed?.filter((key) => mayLogIn(this.#target, key)),
      );
    });
  }

  sign(key: ParsedKey, data: Buffer, options: SigningRequestOptions | SignCallback, done?: SignCallback): void {
    const hash = typeof options === 'function' ? undefined : options.hash;
    const callback = typeof options === 'function' ? options : done;
    if (isListed(this.#target, hash)) this.#agent.sign(key, data, hash === undefined ? {} : { hash }, callback);
    else callback?.(new Error(NOT_LISTED));
  }
}

const NOT_LISTED = 'the server accepts no signature algorithm that PubkeyAcceptedAlgorithms lists';

/** `hash` is ssh2's name for the digest of an RSA signature; other keys have only one algorithm. */
function isListed(target: Target, hash: string | undefined): boolean {
  const algorithm = { sha1: 'ssh-rsa', sha256: 'rsa-sha2-256', sha512: 'rsa-sha2-512' }[hash ?? ''];
  return algorithm === undefined || loginAlgorithms(target).includes(algorithm);
}

/** Returns undefined for a key of another type. */
function rsaBits(key: Buffer): number | undefined {
  const [type, , modulus] = countedFields(key);
  if (type?.toString('latin1') !== 'ssh-rsa') return undefined;
  return BigInt(`0x0${modulus?.toString('hex') ?? ''}`).toString(2).length;
}

function countedFields(bytes: Buffer): Buffer[] {
  if (bytes.length < 4) return [];
  const end = 4 + bytes.readUInt32BE();
  return [bytes.subarray(4, end), ...countedFields(bytes.subarray(end))];
}
