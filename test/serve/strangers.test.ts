// SPDX-License-Identifier: Apache-2.0
// Unauthenticated peers at the port of a serving receiver:
// they get nothing, and delay no client that has a key.
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { type CopyServer, helloOf, Talker, useCopyPlace } from '../support/copy-server.ts';
import { eventually } from '../support/eventually.ts';
import { childrenOf } from '../support/processes.ts';

const STRANGERS_MAX = 64;
const HANDSHAKE_MS = 5000;
const FLOOD = 500;
const BIG_BYTES = 60_000_000;

describe('an unauthenticated peer of a serving receiver', () => {
  const place = useCopyPlace();
  before(() => {
    mkdirSync(place.path('tree'));
    writeFileSync(place.path('tree/file'), 'content\n');
    writeFileSync(place.path('big'), Buffer.alloc(BIG_BYTES, 'a stream that takes a while\n'));
  });

  it('gets the same answer for a wrong key and an unknown name', async () => {
    const server = await place.serve();
    const answers = [];
    for (const [key, name] of [
      [Buffer.alloc(32, 1), 'default'],
      [place.key, 'nobody'],
      [Buffer.alloc(32, 1), 'x'.repeat(100)],
      [place.key, ''],
    ] as const) {
      const socket = place.keep(connectTcp(server.port, '127.0.0.1'));
      const answer = await answerTo(socket, await helloOf(key, name));
      answers.push(answer.toString('hex'));
      expect(['ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR', 'ERR_SSL_SSLV3_ALERT_ILLEGAL_PARAMETER']).to.include(
        await place.client(server, key, name).then(() => undefined, codeOf),
      );
    }
    expect(new Set(answers)).to.have.property('size', 1);
    // Only a fatal alert: decrypt_error, or illegal_parameter from OpenSSL before 3.5.
    expect(answers[0]).to.match(/^150303000202(?:33|2f)$/);
    await eventually(() => expect(server.stderr()).to.match(/refused .* wrong key/));
  });

  it('gets no answer to another protocol, or to TLS without the key', async () => {
    const server = await place.serve();
    for (const bytes of [
      'GET / HTTP/1.1\r\n\r\n',
      'SSH-2.0-x\r\n',
      '\0'.repeat(3000),
      '{"op":"ping"}\n',
      '\x16\x03\x01\xff\xff',
    ])
      await answerTo(place.keep(connectTcp(server.port, '127.0.0.1')), bytes).then((answer) => {
        expect(answer.toString('latin1')).to.not.match(/rdstage|hostname/);
      });
    for (const versions of [{ maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' }, { minVersion: 'TLSv1.3' }] as const) {
      const socket = place.keep(
        connectTls({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...versions }),
      );
      const reason = await once(socket, 'secureConnect').catch((error: unknown) => error);
      expect(reason).to.be.instanceOf(Error);
    }
    expect(await place.rdcp('tree/file', server.url('after'))).to.include({ status: 0 });
  });

  it('is dropped after 5 s without a handshake, and one line reports them', async () => {
    const server = await place.serve();
    const began = Date.now();
    const sockets = Array.from({ length: 10 }, () => place.keep(connectTcp(server.port, '127.0.0.1')));
    for (const socket of sockets.slice(0, 5)) socket.write('\x16\x03\x01');
    await Promise.all(sockets.map((socket) => closing(socket.resume())));
    expect(Date.now() - began).to.be.at.least(HANDSHAKE_MS - 100);
    const lines = await eventually(() => {
      const found = [...server.stderr().matchAll(/refused (a|\d+) connections?.*: no handshake within 5 s$/gm)];
      const counted = found.reduce((sum, [, count]) => sum + (count === 'a' ? 1 : Number(count)), 0);
      expect(counted, server.stderr()).to.equal(sockets.length);
      return found.length;
    });
    // At most one line per second.
    expect(lines).to.be.below(sockets.length / 2);
  });

  it('drives out those of its own address, not one of another that takes longer', async () => {
    const server = await place.serve();
    const distant = place.keep(connectTcp({ port: server.port, host: '127.0.0.1', localAddress: '127.0.0.2' }));
    await once(distant, 'connect');
    await eventually(() => expect(childrenOf(server.pid)).to.have.length(1));
    const flood = Array.from({ length: STRANGERS_MAX + 1 }, () => place.keep(connectTcp(server.port, '127.0.0.1')));
    await Promise.race(flood.map((socket) => closing(socket.resume())));
    await eventually(() => expect(server.stderr()).to.include('too many at once'));
    expect(server.stderr()).to.not.include('127.0.0.2');
    expect(distant.readyState).to.equal('open');
  });

  it('does not disturb a running session or new clients, with 500 others', async () => {
    const server = await place.serve();
    const copy = place.rdcp('--limit', '20M', 'big', server.url('flooded'));
    await eventually(() => expect(server.stderr()).to.match(/began writing flooded/));
    const flood = floodOf(server, place.keep.bind(place));
    await eventually(async () => {
      const other = await place.rdcp('tree/file', server.url('beside'));
      // A client that loses against the flood gets a message with advice.
      if (other.status !== 0) expect(other.stderr).to.include('(try again)');
      expect(other.status).to.equal(0);
    });
    await flood;
    expect(childrenOf(server.pid).filter((pid) => !isKilled(pid)).length).to.be.at.most(STRANGERS_MAX + 8);
    const { status, stderr } = await copy;
    expect(status, stderr).to.equal(0);
  });

  it('that reads slowly, or not at all, affects no other', async () => {
    const server = await place.serve();
    const slow = new Talker(server.port, place.key, 'default');
    place.keep(slow.socket);
    await slow.line();
    slow.socket.pause();
    for (let i = 0; i < 2000; i++) slow.send({ op: 'ping' });
    expect(await place.rdcp('tree/file', server.url('fast'))).to.include({ status: 0 });
    slow.socket.destroy();
    await eventually(() => expect(childrenOf(server.pid)).to.deep.equal([]));
  });

  it('leaves nothing when its connection breaks in a session', async () => {
    const server = await place.serve();
    const talkers = await Promise.all([1, 2, 3].map(() => place.client(server)));
    expect(childrenOf(server.pid)).to.have.length(6);
    for (const { tcp } of talkers) tcp.resetAndDestroy();
    await eventually(() => expect(childrenOf(server.pid)).to.deep.equal([]));
    await eventually(() => expect(server.stderr().match(/ended without a copy/g)).to.have.length(3));
  });
});

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'none';
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

/** True if the process has ended, or has a pending SIGKILL that a busy machine has not delivered yet. */
function isKilled(pid: number): boolean {
  try {
    return /^(?:Sig|Shd)Pnd:\s+[\da-f]*[13579bdf][\da-f]{2}$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true; // it has gone
  }
}

/** Returns all bytes that arrive until the far end closes. */
async function answerTo(socket: Socket, bytes: string | Buffer): Promise<Buffer> {
  const got: Buffer[] = [];
  socket.on('data', (data) => got.push(data));
  socket.end(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  await closing(socket);
  return Buffer.concat(got);
}

/** Opens connections of all kinds, each of which stays as long as the server permits. */
async function floodOf(server: CopyServer, keep: (socket: Socket) => Socket): Promise<void> {
  for (let i = 0; i < FLOOD; i++) {
    const socket = keep(connectTcp(server.port, '127.0.0.1'));
    if (i % 3 === 0) socket.write('\x16\x03\x01\x02\x00');
    if (i % 3 === 1) socket.write('garbage\r\n'.repeat(20));
    if (i % 25 === 0) await delay(10);
  }
}
