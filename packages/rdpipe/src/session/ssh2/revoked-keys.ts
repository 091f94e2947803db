/** Reads RevokedHostKeys: a list of public keys, or a key revocation list (OpenSSH's PROTOCOL.krl). */
import { createHash } from 'node:crypto';

/**
 * True if a file's content revokes a host key. `key` must not be a certificate.
 * @throws Error for a line that is not a key, or a key revocation list that is damaged or has unknown parts: ssh then
 * trusts no key.
 */
export function isRevoked(content: Buffer, key: Buffer): boolean {
  return content.subarray(0, MAGIC.length).equals(MAGIC) ? isInKrl(content, key) : isInList(content, key);
}

const MAGIC = Buffer.from('SSHKRL\n\0', 'latin1');
const FORMAT_VERSION = 1;
/** After the version: the list's number, date and flags. */
const HEADER_NUMBERS_BYTES = 24;

function isInList(content: Buffer, key: Buffer): boolean {
  const lines = content.toString('latin1').split('\n');
  return lines.filter((line) => !/^\s*(#|$)/.test(line)).some((line) => keyIn(line).equals(key));
}

function keyIn(line: string): Buffer {
  const [type = '', text = ''] = line.trim().split(/\s+/);
  const key = Buffer.from(text, 'base64');
  if (key.length < 4 || new Fields(key).text().toString('latin1') !== type)
    throw new Error('it has a line that is not a key');
  return key;
}

function isInKrl(content: Buffer, key: Buffer): boolean {
  const file = new Fields(content.subarray(MAGIC.length));
  if (file.uint32() !== FORMAT_VERSION) throw new Error('it is a key revocation list of another version');
  file.skip(HEADER_NUMBERS_BYTES);
  file.text(); // reserved
  file.text(); // comment
  let found = false;
  while (!file.isAtEnd()) {
    const [kind, section] = [file.byte(), new Fields(file.text())];
    const revoked = SECTIONS.get(kind);
    if (revoked === undefined) throw new Error(`it is a key revocation list with a section of kind ${kind}`);
    const wanted = revoked(key);
    while (wanted !== undefined && !section.isAtEnd()) found = section.text().equals(wanted) || found;
  }
  return found;
}

const digest = (name: string) => (key: Buffer) => createHash(name).update(key).digest();

/**
 * By kind of section: returns the entry that would revoke the key. Certificates (1) are never accepted as host keys.
 */
const SECTIONS = new Map<number, (key: Buffer) => Buffer | undefined>([
  [1, () => undefined],
  [2, (key) => key],
  [3, digest('sha1')],
  [5, digest('sha256')],
]);

/** Fields of the wire format, read one after another. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  skip(count: number): Buffer {
    if (count > this.#bytes.length - this.#at) throw new Error('it is truncated');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  byte(): number {
    return this.skip(1).readUInt8();
  }

  uint32(): number {
    return this.skip(4).readUInt32BE();
  }

  text(): Buffer {
    return this.skip(this.uint32());
  }
}
