// SPDX-License-Identifier: Apache-2.0
// Extracts the ELF kernel from an x86 bzImage: qemu boots it without firmware in half the time.
import { execaSync } from 'execa';

/** First bytes of a payload, and the program that decompresses it. */
const COMPRESSIONS: readonly (readonly [start: string, program: string, ...words: readonly string[]])[] = [
  ['fd377a585a00', 'xz', '-dc'],
  ['28b52ffd', 'zstd', '-dc'],
  ['02214c18', 'lz4', '-dc'],
  ['1f8b', 'gzip', '-dc'],
];
const BYTES = { encoding: 'buffer', stripFinalNewline: false, maxBuffer: 256 << 20 } as const;
const ELF = '7f454c46';
const SECTOR_BYTES = 512;
// Offsets of fields in the header of the boot protocol.
const SETUP_SECTORS = 0x1f1;
const PAYLOAD_OFFSET = 0x248;
const PAYLOAD_LENGTH = 0x24c;

export function vmlinuxOf(image: Buffer): Buffer {
  const payload = payloadOf(image);
  // The last four bytes are the uncompressed length: part of gzip's format, otherwise appended by the kernel's build.
  const length = payload.readUInt32LE(payload.length - 4);
  const [start, program, ...words] = compressionOf(payload);
  const input = start === '1f8b' ? payload : payload.subarray(0, -4);
  const elf = Buffer.from(execaSync(program, words, { ...BYTES, input }).stdout);
  if (elf.length !== length || !elf.toString('hex', 0, 4).startsWith(ELF))
    throw new Error('the kernel image is damaged');
  return elf;
}

function payloadOf(image: Buffer): Buffer {
  const setupSectors = image.readUInt8(SETUP_SECTORS) || 4;
  const start = (setupSectors + 1) * SECTOR_BYTES + image.readUInt32LE(PAYLOAD_OFFSET);
  return image.subarray(start, start + image.readUInt32LE(PAYLOAD_LENGTH));
}

function compressionOf(payload: Buffer): (typeof COMPRESSIONS)[number] {
  const start = payload.toString('hex', 0, 8);
  const found = COMPRESSIONS.find(([magic]) => start.startsWith(magic));
  if (found === undefined) throw new Error(`the kernel image is compressed in an unknown way (${start})`);
  return found;
}
