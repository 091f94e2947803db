// SPDX-License-Identifier: Apache-2.0
// A client that has a key but sends requests that rdcp never sends:
// the agent refuses them, and the session ends.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type CopyServer, type Talker, useCopyPlace } from '../support/copy-server.ts';
import { eventually } from '../support/eventually.ts';
import { childrenOf } from '../support/processes.ts';

/** So long that no limit of the agent expires. */
const LIMIT_MS = 600_000;
const HEAD = { op: 'prepare', segment: 1, lenient: false, lease_ms: LIMIT_MS, connect_timeout_ms: LIMIT_MS };
const NULLS = [
  { link: 0, kind: 'null' },
  { link: 1, kind: 'null' },
];
const hex = (text: string) => Buffer.from(text).toString('hex');

describe('a hostile client of a serving receiver', () => {
  const place = useCopyPlace();
  let server: CopyServer;
  beforeEach(async () => {
    mkdirSync(place.served, { recursive: true });
    writeFileSync(place.path('outside'), 'outside');
    server = await place.serve();
  });

  for (const [name, stages, links] of [
    [
      'a command',
      [{ stage: 1, kind: 'command', command: hex('touch run'), shell: 'sh', ok: [0], in: 0, out: 1 }],
      NULLS,
    ],
    [
      'a sink',
      [{ stage: 1, kind: 'sink', word: hex('run'), append: false, in: 1 }],
      [hop(1, 'recv', { sink: 'stage' })],
    ],
    [
      'a source',
      [{ stage: 1, kind: 'source', word: hex('/etc/passwd'), out: 1 }],
      [hop(1, 'send', { source: 'stage' })],
    ],
    ['a copy of an unknown kind', [tree({ role: 'rm' })], NULLS],
    ['a copy without a kind', [tree({})], NULLS],
    ["the user's output", [tree({ role: 'scan' })], [NULLS[0], { link: 1, kind: 'stdout' }]],
    ['more stages than a copy has', many(9), manyLinks(9)],
  ] as const)
    it(`may not start ${name}`, async () => {
      const talker = await place.client(server);
      talker.send({ ...HEAD, stages, links });
      await refused(talker);
    });

  it('may not have an end dial a local socket', async () => {
    const talker = await place.client(server);
    talker.send({
      ...HEAD,
      stages: [tree({ role: 'compare', run: 'a', target: hex('x') }, 1)],
      links: [hop(1, 'recv', { sink: 'stage' }), { link: 2, kind: 'null' }],
    });
    await talker.shows(/"event":"prepared"/);
    talker.send({ op: 'dial', link: 1, end: 'recv', addresses: [{ unix: '/run/docker.sock' }] });
    await refused(talker);
  });

  for (const path of ['../outside', '/../outside', 'a/../../outside', '~/../outside', '/proc/self/root/etc/passwd'])
    it(`may not read ${path}`, async () => {
      mkdirSync(join(place.served, 'a'), { recursive: true });
      const talker = await place.client(server);
      talker.send({ ...HEAD, stages: [tree({ role: 'scan', run: 'a', sources: [hex(path)] })], links: NULLS });
      await talker.shows(/"event":"prepared"/);
      talker.send({ op: 'go', segment: 1 });
      await talker.shows(/"event":"segment_ended"/);
      expect(stderrOf(talker)).to.match(/"event":"failed".*"code":"(ENOENT|ELOOP|ENOTDIR)"/);
    });

  it('is ended after lines that are not requests, too long or endless', async () => {
    for (const bytes of [
      '{"op":"nothing"}\n',
      'garbage\n',
      '[]\n',
      `${'x'.repeat(1 << 21)}\n`,
      `${'{'.repeat(100_000)}\n`,
    ]) {
      const talker = await place.client(server);
      talker.socket.write(bytes);
      await talker.closed;
    }
    await eventually(() => expect(childrenOf(server.pid)).to.deep.equal([]));
  });

  async function refused(talker: Talker): Promise<void> {
    await talker.closed;
    expect(talker.text).to.match(/"event":"failed","stage":null,"code":"usage"/);
    expect(talker.text)
      .to.match(/"event":"ended"/)
      .and.not.match(/"event":"started"/);
    await eventually(() => expect(childrenOf(server.pid)).to.deep.equal([]));
    expect(server.stderr()).to.not.include('complete');
  }
});

function tree(settings: object, input = 0) {
  return { stage: 1, kind: 'tree', settings, in: input, out: input + 1 };
}

function hop(link: number, end: 'send' | 'recv', party: object) {
  const open = {
    key: 'ab'.repeat(32),
    run: 'r',
    hop: 1,
    encrypt: 'tcp',
    buffer: 1 << 20,
    connect_timeout_ms: LIMIT_MS,
    stall_timeout_ms: LIMIT_MS,
    bind: null,
    ports: [0, 0],
    poll: false,
    compress: 0,
    jobs: 0,
    limit: 0,
  };
  return { link, kind: 'hop', end, ...party, open };
}

function many(count: number) {
  return Array.from({ length: count }, (_, index) => ({ ...tree({ role: 'scan' }, index), stage: index + 1 }));
}

function manyLinks(count: number) {
  return Array.from({ length: count + 1 }, (_, link) => ({
    link,
    kind: link === 0 || link === count ? 'null' : 'pipe',
  }));
}

/** Standard error of all stages together. */
function stderrOf(talker: Talker): string {
  return [...talker.text.matchAll(/"event":"stderr","stage":\d+,"data":"([0-9a-f]*)"/g)]
    .map(([, data = '']) => Buffer.from(data, 'hex').toString())
    .join('');
}
