// SPDX-License-Identifier: Apache-2.0
// The sources build without the headers of RDMA, and such programs refuse RDMA with a message.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMMAND_MS } from '../../support/patience.ts';
import { type Run, runProgram } from '../../support/run-program.ts';

const ROOT = join(import.meta.dirname, '../../..');
const OUT = 'build/plain';
/**
 * Simulates a machine without the headers: `make` looks for them with these flags, and finds one that cannot be
 * included.
 */
const HEADERS = mkdtempSync(join(tmpdir(), 'rdpipe-no-rdma-'));
const NO_HEADERS = `CPPFLAGS=-I${HEADERS}`;
const WORDS = 'this program was built without RDMA (VERBS=no, or no headers of libibverbs)';

describe('a build without RDMA', () => {
  before(() => {
    mkdirSync(join(HEADERS, 'rdma'));
    writeFileSync(join(HEADERS, 'rdma/rdma_cma.h'), '#error "there is none"\n');
    const programs = ['rdsend', 'rdrecv'].map((name) => `${OUT}/${name}`);
    const { status, stderr } = make('-j2', 'WERROR=1', 'CFLAGS=-O0', NO_HEADERS, ...programs);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  after(() => rmSync(HEADERS, { recursive: true }));

  it('is made if its headers are missing, and with VERBS=no', () => {
    const commands = make('-n', 'OUT=build/none', NO_HEADERS).stdout;
    expect(commands)
      .to.contain('verbs/none.c')
      .and.equal(make('-n', 'OUT=build/none', NO_HEADERS, 'VERBS=no').stdout);
  });

  it('leaves out the headers that need them', () => {
    expect(make('-n', NO_HEADERS, 'headers').stdout)
      .to.contain('transport/verbs/connector.h')
      .and.not.match(/verbs\/(?!connector|flow|spin)/);
  });

  it('is refused with VERBS=yes, with the packages to install', () => {
    const { status, stderr } = make('-n', NO_HEADERS, 'VERBS=yes');
    expect(status).to.equal(2);
    expect(stderr).to.match(/no rdma\/rdma_cma\.h: install librdmacm-dev and libibverbs-dev, or rdma-core-devel/);
  });

  it('does not use the libraries', () => {
    expect(readFileSync(join(ROOT, OUT, 'rdhop')).includes('librdmacm')).to.equal(false);
  });

  it('tells the agent why RDMA is missing', () => {
    expect(run('rdrecv', '--rdma-check')).to.deep.equal({ status: 3, stdout: `${WORDS}\n`, stderr: '' });
  });

  it('fails if RDMA is required', () => {
    expect(run('rdrecv', '--transport', 'rdma', '0', 'key')).to.deep.include({ status: 3, stdout: '' });
    const sent = run('rdsend', '--transport', 'rdma', '127.0.0.1', '9', 'key');
    expect(sent.stderr).to.contain(WORDS);
    expect(sent.status).to.equal(3);
  });
});

function make(...args: string[]): Run {
  return runProgram('make', ['-s', `OUT=${OUT}`, ...args], { cwd: ROOT });
}

function run(program: string, ...args: string[]): Run {
  return runProgram(join(ROOT, OUT, program), args, { input: '', timeout: COMMAND_MS });
}
