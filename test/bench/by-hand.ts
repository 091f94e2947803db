// SPDX-License-Identifier: Apache-2.0
// Command lines of rdsend and rdrecv without rdpipe. The key comes from a file, by a descriptor.
import { ROOT } from '../support/root.ts';
import { HOP_KEY } from './case.ts';

const KEY_WORDS = `--key-fd 3`;

/** `words`: options; `file`: a word that names the input, or none. */
export function rdsend(host: string, port: number, words: string, file = ''): string {
  return `${ROOT}/bin/rdsend -v ${KEY_WORDS} ${words} ${host} ${port} - ${file} 3<${HOP_KEY}`;
}

export function rdrecv(port: number, words: string, file = ''): string {
  return `${ROOT}/bin/rdrecv ${KEY_WORDS} ${words} ${port} - ${file} 3<${HOP_KEY}`;
}
