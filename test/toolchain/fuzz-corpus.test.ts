// SPDX-License-Identifier: Apache-2.0
// The text form of fuzz inputs gives the original bytes, as files for libFuzzer and in the C replay.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { pack, readCorpus, unpack, writeCorpus } from '../../scripts/fuzz-corpus.ts';
import { ROOT } from '../support/root.ts';
import { output } from '../support/run-program.ts';

const PACKAGE = join(ROOT, 'packages/rdbase-native');
const PRINTS = `#include "fuzz.h"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; i++) printf("%02x", data[i]);
  return puts("") < 0;
}`;
const INPUTS = [
  Buffer.alloc(0),
  Buffer.from(Array.from({ length: 256 }, (_, value) => value)),
  Buffer.alloc(300_000, 'a\\\0\n'),
  Buffer.from('name: ends with a space '),
  Buffer.from('\\x41\\n'),
];

describe('inputs of a fuzz target as text', () => {
  let directory: string;
  let text: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-corpus-'));
    text = join(directory, 'inputs.txt');
    mkdirSync(join(directory, 'in'));
    for (const [index, bytes] of INPUTS.entries()) writeFileSync(join(directory, 'in', `${index}`), bytes);
    writeCorpus(text, pack(join(directory, 'in')));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('are lines of printable ASCII without a space at their end', () => {
    expect(readFileSync(text, 'latin1')).to.match(/^(?:[ -~]*[!-~]\n)+$/);
  });

  it('are the same as files', () => {
    unpack(readCorpus(text), join(directory, 'out'));
    const files = readdirSync(join(directory, 'out')).map((file) => readFileSync(join(directory, 'out', file)));
    expect(hex(files)).to.deep.equal(hex(INPUTS));
  });

  it('are the same to the replay, which also takes a plain file', () => {
    const program = join(directory, 'prints');
    const sources = ['fuzz/replay.c', 'src/base/hex.c'].map((file) => join(PACKAGE, file));
    const words = ['-std=c17', '-D_GNU_SOURCE', `-I${PACKAGE}/src`, `-I${PACKAGE}/fuzz`, '-o', program];
    execaSync('cc', [...words, ...sources, '-x', 'c', '-'], { input: PRINTS });
    expect(replayed(program, text)).to.deep.equal(hex(INPUTS));
    expect(replayed(program, join(directory, 'in/1'))).to.deep.equal(hex(INPUTS.slice(1, 2)));
  });
});

function replayed(program: string, file: string): string[] {
  return output(program, [file]).toString().split('\n').slice(0, -2).sort();
}

function hex(inputs: readonly Buffer[]): string[] {
  return inputs.map((bytes) => bytes.toString('hex')).sort();
}
