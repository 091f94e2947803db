// SPDX-License-Identifier: Apache-2.0
// Over a link with a long round trip, the sender's socket holds a whole window in flight, and counts what limits it.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { RECEIVER_ADDRESS, SlowLink, whatSlowLinksLack } from '../bench/loopback/slow-link.ts';
import { compilePrograms } from '../bench/programs/programs.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/needs.ts';
import { filterInput } from '../support/packet-filter.ts';
import { BIN, KEY } from '../support/programs.ts';
import { type Started, startProgram } from '../support/start-program.ts';

const MIB = 2 ** 20;
/** The kernel counts a size that was set twice. */
const TWO_WINDOWS = 2 * 8 * MIB;
const PORT = '4711';
/** As many as `auto` uses at once. */
const FIRST_STREAMS = 4;

describe('a long path', () => {
  let link: SlowLink;
  let directory: string;
  const running: Started[] = [];

  before(async function () {
    needs(this, whatSlowLinksLack());
    compilePrograms();
    directory = mkdtempSync(join(tmpdir(), 'long-path-'));
    writeFileSync(join(directory, 'key'), `${KEY}\n`, { mode: 0o600 });
    link = await SlowLink.open();
  });
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.splice(0).map(({ ended }) => ended));
  });
  after(async () => {
    await link?.close();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  });

  it('has several sockets, each with a send buffer for its window, and reports what limited them', async () => {
    const bytes = 24 * MIB;
    const receiver = start('RECEIVER', `${BIN}/rdrecv --key-fd 3 ${PORT} - >/dev/null`);
    await eventually(() => expect(sockets('RECEIVER', 'listening')).to.include(`:${PORT} `));
    const events = join(directory, 'events');
    const sender = start(
      'SENDER',
      `(head -c ${bytes} /dev/zero; read -r _) | ${BIN}/rdsend --json --key-fd 3 ${RECEIVER_ADDRESS} ${PORT} - 2>${events}`,
    );
    await eventually(() => expect(sockets('SENDER', 'established')).to.include(`,tb${TWO_WINDOWS},`));
    sender.child.stdin?.end('\n');
    const ends = await Promise.all([sender.ended, receiver.ended]);
    expect(ends.map(({ status }) => status)).to.deep.equal([0, 0]);
    const counters = execaSync('grep', ['"counters"', events], { lines: true }).stdout.at(-1) ?? '{}';
    expect(JSON.parse(counters)).to.include({ bytes }).and.to.include.keys('sent_again', 'receive_window_ms');
    expect(JSON.parse(counters)).to.have.property('streams').that.is.at.least(FIRST_STREAMS);
  });

  it('carries a stream over several sockets, and over new ones when one of them was cut', async () => {
    const half = 12 * MIB;
    const received = join(directory, 'received');
    const events = join(directory, 'events');
    const receiver = start('RECEIVER', `${BIN}/rdrecv --streams 9 --key-fd 3 ${PORT} - >'${received}'`);
    await eventually(() => expect(sockets('RECEIVER', 'listening')).to.include(`:${PORT} `));
    writeFileSync(join(directory, 'half'), randomBytes(half));
    const input = `cat '${join(directory, 'half')}'`;
    const sender = start(
      'SENDER',
      `(${input}; read -r _; ${input}) | ${BIN}/rdsend --json --streams 4 --key-fd 3 ${RECEIVER_ADDRESS} ${PORT} - 2>'${events}'`,
    );
    const before = await fourSockets();
    const first = /"local":"[\d.]+(:\d+)"/.exec(readFileSync(events, 'utf8'))?.[1] ?? '';
    cut(first);
    await fourSockets(before);
    sender.child.stdin?.end('\n');
    const ends = await Promise.all([sender.ended, receiver.ended]);
    expect(ends.map(({ status }) => status)).to.deep.equal([0, 0]);
    const bytes = readFileSync(join(directory, 'half'));
    expect(readFileSync(received).equals(Buffer.concat([bytes, bytes]))).to.equal(true);
  });

  it('gives up a socket whose packets are lost while those of the others arrive', async () => {
    const events = join(directory, 'events');
    const receiver = start('RECEIVER', `${BIN}/rdrecv --streams 4 --key-fd 3 ${PORT} - | wc -c`);
    await eventually(() => expect(sockets('RECEIVER', 'listening')).to.include(`:${PORT} `));
    const goes = join(directory, 'goes');
    writeFileSync(goes, '');
    const sender = start(
      'SENDER',
      `(while [ -e '${goes}' ]; do head -c ${MIB} /dev/zero; done; head -c ${48 * MIB} /dev/zero) |
        ${BIN}/rdsend --json --streams 4 --key-fd 3 ${RECEIVER_ADDRESS} ${PORT} - 2>'${events}'`,
    );
    const ports = await fourSockets();
    const first = /"local":"[\d.]+:(\d+)"/.exec(readFileSync(events, 'utf8'))?.[1] ?? '';
    const isUsed = (port: string) =>
      port !== first && /bytes_acked:\d{6}/.test(sockets('SENDER', 'established', `:${port}`));
    const lost = await eventually(() => {
      const used = ports.find(isUsed);
      expect(used).to.be.a('string');
      return used;
    });
    filterInput(prefix('RECEIVER'), `tcp sport ${lost} drop`);
    rmSync(goes);
    const ends = await Promise.all([sender.ended, receiver.ended]);
    expect(ends.map(({ status }) => status)).to.deep.equal([0, 0]);
    const counters = execaSync('grep', ['"counters"', events], { lines: true }).stdout.at(-1) ?? '{}';
    const received = Number(receiver.outputs().trim().split('\n').at(-1));
    expect(JSON.parse(counters))
      .to.have.property('bytes', received)
      .that.is.at.least(48 * MIB);
    expect(readFileSync(events, 'utf8')).to.match(/"broken".*one of 4 sockets/);
  });

  /** The sender's ports, once it has four sockets of which none is one of `others`. */
  async function fourSockets(others: readonly string[] = []): Promise<readonly string[]> {
    return await eventually(() => {
      const ports = [...sockets('SENDER', 'established').matchAll(/:(\d+) +\S+:4711 /g)].map(([, port = '']) => port);
      expect(ports).to.have.length(4);
      expect(ports.filter((port) => others.includes(port))).to.deep.equal([]);
      return ports;
    });
  }

  /** Resets the sender's socket with this port. ss fails because it also tries to cut what it listed for others. */
  function cut(port: string): void {
    const [command = '', ...words] = [...prefix('SENDER'), 'ss', '-K', 'sport', '=', port];
    execaSync(command, words, { reject: false });
  }

  function start(end: 'SENDER' | 'RECEIVER', command: string): Started {
    const words = [...prefix(end), 'bash', '-c', `exec 3<'${join(directory, 'key')}'; ${command}`];
    const started = startProgram(words, { stdin: 'pipe' });
    running.push(started);
    return started;
  }

  function sockets(end: 'SENDER' | 'RECEIVER', state: string, port?: string): string {
    const [command = '', ...words] = [...prefix(end), 'ss', '-OHtnmi', 'state', state];
    if (port !== undefined) words.push('sport', '=', port);
    return execaSync(command, words).stdout;
  }

  function prefix(end: 'SENDER' | 'RECEIVER'): string[] {
    return (link.environment[end] ?? '').split(' ');
  }
});
