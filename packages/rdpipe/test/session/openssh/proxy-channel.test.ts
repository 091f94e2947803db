// The server's side is simulated: it does what a real one does rarely, or never. session.test has a real one.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MESSAGE, type MuxClient, serveMuxMaster } from '../../../../../test/support/mux-master.ts';
import type { FieldReader } from '../../../src/session/openssh/frames.ts';
import { openProxyChannel, RefusedError, type ShellChannel } from '../../../src/session/openssh/proxy-channel.ts';
import { textOf } from '../conformance.ts';

const NEVER = new AbortController().signal;
const REQUEST = { environment: { A: '1' }, forwardsAgent: true };
/** The number that rdpipe gives its channel, and that of the server. */
const OURS = 0;
const THEIRS = 5;

describe('a channel of a master in proxy mode', () => {
  let directory: string;
  let server: Server | undefined;
  const path = () => join(directory, 'master');

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  });
  afterEach(() => {
    server?.close();
    server = undefined;
    rmSync(directory, { recursive: true });
  });

  const serve = async (of: Server) => {
    server = of.listen(path());
    await once(of, 'listening');
  };
  /** Opens a channel at a server that confirms it, with a window and packets of this size. */
  const open = async (
    take: (client: MuxClient, type: number, fields: FieldReader) => void,
    windowBytes = 1000,
    packetBytes = 1000,
  ): Promise<ShellChannel> => {
    await serve(
      serveMuxMaster((client, type, fields) => {
        if (type === MESSAGE.open) client.send(MESSAGE.confirmation, OURS, THEIRS, windowBytes, packetBytes);
        else {
          expect(fields.uint32()).to.equal(THEIRS);
          take(client, type, fields);
        }
      }),
    );
    const channel = await openProxyChannel(path(), REQUEST, NEVER);
    return channel ?? expect.fail('it has no proxy mode');
  };
  const refusalOf = async (): Promise<unknown> =>
    openProxyChannel(path(), REQUEST, NEVER).catch((error: unknown) => error);

  it('requests the agent, the environment and a shell', async () => {
    const requests: string[] = [];
    const channel = await open((client, type, fields) => {
      if (type !== MESSAGE.request) return;
      const [name, wantsAnswer] = [fields.bytes().toString(), fields.boolean()];
      const rest = name === 'env' ? `${fields.bytes()}=${fields.bytes()}` : name === 'exec' ? `${fields.bytes()}` : '';
      requests.push(`${name} ${wantsAnswer} ${rest}`);
      if (name === 'exec') client.send(MESSAGE.close, OURS);
    });
    await channel.closed;
    expect(requests).to.deep.equal(['auth-agent-req@openssh.com false ', 'env false A=1', 'exec true sh']);
    expect(channel.isCut()).to.equal(false);
  });

  it('sends no more than the server takes, in packets that it takes', async () => {
    const taken: string[] = [];
    const channel = await open(
      (client, type, fields) => {
        if (type === MESSAGE.data) taken.push(fields.bytes().toString());
        if (type === MESSAGE.eof) client.send(MESSAGE.close, OURS);
        if (taken.join('').length === 3500) client.send(MESSAGE.adjust, OURS, 10_000);
      },
      3500,
      2000,
    );
    const input = Array.from({ length: 1200 }, (_, index) => `${1000 + index} `).join('');
    channel.stdin.end(input);
    await channel.closed;
    expect(taken.join('')).to.equal(input);
    expect(taken.map(({ length }) => length)).to.deep.equal([2000, 1500, 2000, 500]);
  });

  it('lets the server send more when its output was read', async () => {
    const adjusted: number[] = [];
    const channel = await open((client, type, fields) => {
      if (type === MESSAGE.request && fields.bytes().toString() === 'exec') {
        for (let sent = 0; sent < 64; sent++) client.send(MESSAGE.data, OURS, Buffer.alloc(32 * 1024));
      }
      if (type === MESSAGE.adjust) {
        adjusted.push(fields.uint32());
        client.send(MESSAGE.eof, OURS);
        client.send(MESSAGE.close, OURS);
      }
    });
    expect((await textOf(channel.stdout)).length).to.equal(2 * 1024 * 1024);
    expect(adjusted[0]).to.be.at.least(1024 * 1024);
  });

  it('answers the keepalive of the server', async () => {
    const channel = await open((client, type, fields) => {
      if (type === MESSAGE.request && fields.bytes().toString() === 'exec')
        client.send(MESSAGE.request, OURS, 'keepalive@openssh.com', true);
      if (type === MESSAGE.failure) client.send(MESSAGE.close, OURS);
    });
    await channel.closed;
    expect(channel.isCut()).to.equal(false);
  });

  it('does not take more input than a server that stopped reading', async () => {
    const channel = await open(
      ({ socket }, type) => {
        if (type === MESSAGE.data) socket.pause();
      },
      2 ** 32 - 1,
      32 * 1024,
    );
    const piece = Buffer.alloc(1024 * 1024);
    // More than sockets hold, which the server permits.
    for (let written = 0; written < 64; written++) channel.stdin.write(piece);
    await new Promise(setImmediate);
    expect(channel.stdin.writableLength).to.be.greaterThan(32 * piece.length);
    channel.kill();
  });

  it('reports the signal that ended the shell', async () => {
    const channel = await open((client, type, fields) => {
      if (type !== MESSAGE.request || fields.bytes().toString() !== 'exec') return;
      client.send(MESSAGE.request, OURS, 'exit-signal', false, 'KILL', false, '', '');
      client.send(MESSAGE.close, OURS);
    });
    expect(await channel.closed).to.deep.equal({ code: null, signal: 'SIGKILL' });
  });

  it('reports that the server did not run the shell', async () => {
    const channel = await open((client, type) => {
      if (type === MESSAGE.request) client.send(MESSAGE.failure, OURS);
    });
    await channel.closed;
    expect(channel.refusal()).to.equal('it did not run the shell');
  });

  for (const [what, send] of [
    ['ends', ({ socket }: MuxClient) => socket.destroy()],
    ['sends a frame that is too long', ({ socket }: MuxClient) => socket.write(Buffer.from([0xff, 0, 0, 0]))],
    [
      'sends more than it may',
      ({ send }: MuxClient) => {
        for (let sent = 0; sent <= 64; sent++) send(MESSAGE.data, OURS, Buffer.alloc(32 * 1024));
      },
    ],
    ['sends a packet that ends within a field', ({ send }: MuxClient) => send(MESSAGE.data, OURS, 3)],
  ] as const) {
    it(`is cut if the master ${what}`, async () => {
      const channel = await open((client, type) => {
        if (type === MESSAGE.request) send(client);
      });
      await channel.closed;
      expect(channel.isCut()).to.equal(true);
      expect((await textOf(channel.stdout)).replaceAll('\0', '')).to.equal('');
    });
  }

  it('is refused with the reason of the server, and the master keeps the socket', async () => {
    const clients: MuxClient[] = [];
    await serve(
      serveMuxMaster((client) => {
        clients.push(client);
        client.send(MESSAGE.openFailure, OURS, 1, 'too many\nsessions', '');
      }),
    );
    const refusal = await refusalOf();
    expect(refusal).to.be.instanceOf(RefusedError);
    expect(String(refusal)).to.include('too many\u240asessions');
    expect(clients[0]?.socket.destroyed).to.equal(false);
    clients[0]?.socket.destroy();
  });

  it('is not opened after the run was given up, and the master keeps the socket until the server has answered', async () => {
    const controller = new AbortController();
    let client: MuxClient | undefined;
    await serve(
      serveMuxMaster((opening) => {
        client ??= opening;
        controller.abort(new Error('given up'));
      }),
    );
    const outcome = await openProxyChannel(path(), REQUEST, controller.signal).catch((error: unknown) => error);
    expect(outcome).to.equal(controller.signal.reason);
    expect(client?.socket.destroyed).to.equal(false);
    client?.send(MESSAGE.confirmation, OURS, THEIRS, 1000, 1000);
    await once(client?.socket ?? expect.fail(), 'close');
  });

  it('is left to ssh if nothing listens, or if the master refuses the proxy mode', async () => {
    expect(await openProxyChannel(path(), REQUEST, NEVER)).to.equal(undefined);
    await serve(createServer((socket) => socket.end(Buffer.from([0, 0, 0, 8, 0x80, 0, 0, 3, 0, 0, 0, 0]))));
    expect(await openProxyChannel(path(), REQUEST, NEVER)).to.equal(undefined);
  });
});
