import { expect } from 'chai';
import { NO_WAITS } from '../../../src/model/counters.ts';
import type { History } from '../../../src/ui/pages/history.ts';
import { type RunPageInput, runPage } from '../../../src/ui/pages/run.ts';
import { hopReport, report, stageReport } from '../helpers.ts';

const EVIL = '<script>alert(1)</script>"\'&\u202e\u001b[31m';
const HISTORY: History = {
  plan: undefined,
  hops: [
    {
      link: 1,
      samples: [0, 1, 2].map((at) => ({
        at,
        bytes: at * 1e9,
        wireBytes: at * 1e8,
        send: { ...NO_WAITS, wireMs: at * 100 },
        recv: NO_WAITS,
      })),
      broken: [],
    },
  ],
  stderr: [],
  warnings: [],
};

function page(changes: Partial<RunPageInput> = {}): string {
  const began = new Date('2026-11-21T10:00:00Z');
  return runPage({
    command: ['rdpipe h1:a h2:b'],
    plan: ['h1→h2 tcp'],
    began,
    history: HISTORY,
    report: report(),
    ...changes,
  });
}

describe('the page about a run', () => {
  it('may load nothing, and contains nothing that runs', () => {
    expect(page()).to.contain(`content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;;`);
    expect(page()).not.to.match(/<script|<link|<img|<iframe|\ssrc=|\shref=|@import|\son\w+=/);
  });

  it('is the same for the same run', () => expect(page()).to.equal(page()));

  it('shows the result of the run and the use of its programs, and draws its hops', () => {
    const text = page();
    expect(text).to.contain('<title>rdpipe: succeeded</title>').and.to.contain('2026-11-21T10:00:00.000Z');
    expect(text).to.contain(
      '<th scope="row">h1→h2</th><td>rdsend</td><td>h1</td><td>0.3 s</td><td>0.7 s</td><td>0.33</td>',
    );
    expect(text.match(/<svg /g)).to.have.lengthOf(2);
    expect(text).not.to.contain('connection broke');
  });

  it('shows the bytes on the wire of a compressed hop, and draws them', () => {
    const text = page({ report: report({ hops: [hopReport({ compress: 1, wireBytes: 1024 ** 3 })] }) });
    expect(text)
      .to.contain('<td class="words">3.0 GiB, 1.0 GiB on the wire</td>')
      .and.to.match(/<text[^>]*>on the wire</);
    expect(page()).not.to.contain('on the wire');
  });

  it('names the first cause of a failure', () => {
    const stages = [stageReport({ state: 'failed', code: 3 }), stageReport({ stage: 2, host: 'h2' })];
    const failure = {
      status: 3,
      cause: 'stage',
      causeStage: 1,
      message: 'stage 1 (h1: a) exited with status 3',
    } as const;
    const text = page({ report: report({ ...failure, stages }) });
    expect(text).to.contain('<dt>first cause</dt><dd>stage 1 (h1: produce), failed (exit 3)</dd>');
    expect(text).to.contain('<title>rdpipe: failed</title>').and.to.contain('stage 1 (h1: a) exited with status 3');
  });

  it('marks where a connection broke', () => {
    const hops = HISTORY.hops.map((hop) => ({ ...hop, broken: [1.5] }));
    expect(page({ history: { ...HISTORY, hops } })).to.contain('connection broke');
  });

  it('can be written for a run with few facts', () => {
    const history = { plan: undefined, hops: [], stderr: [], warnings: [] };
    expect(page({ history, plan: [] })).to.contain('No measurements.');
    const nothing = report({ status: 125, cause: 'rdpipe', message: 'cannot reach h1', stages: [], hops: [] });
    expect(page({ history, plan: [], report: nothing }))
      .to.contain('cannot reach h1')
      .and.not.to.contain('<h2>Hops');
  });

  it('draws a limited number of hops, and reports the limit', () => {
    const hops = Array.from({ length: 70 }, (_, link) => hopReport({ link }));
    const text = page({ report: report({ hops }) });
    expect(text).to.contain('6 more hops have no chart');
  });

  it('shows output of hosts as text', () => {
    const said = Buffer.from(`${EVIL}\nnext`);
    const text = page({
      command: [EVIL],
      plan: [EVIL],
      history: {
        ...HISTORY,
        stderr: [{ stage: 1, host: EVIL, tail: said, bytes: 100_000 }],
        warnings: [EVIL],
      },
      report: report({
        message: EVIL,
        stages: [stageReport({ host: EVIL, command: EVIL })],
        hops: [
          hopReport({
            from: EVIL,
            to: EVIL,
            why: EVIL,
            local: EVIL,
            peer: EVIL,
            devices: [EVIL],
            notes: [EVIL],
            warnings: [EVIL],
            cipher: EVIL,
            openssl: [EVIL],
            transport: EVIL,
          }),
        ],
        leftBehind: [{ host: EVIL, pid: 1, command: EVIL }],
      }),
    });
    expect(text.replaceAll('\n', ''))
      .not.to.contain('<script')
      .and.not.to.match(/[\p{Cc}\u202e]/u);
    expect(text.match(/&#60;script&#62;alert\(1\)&#60;\/script&#62;&#34;&#39;&#38;�␛\[31m/g)?.length).to.be.at.least(
      12,
    );
    expect(text)
      .to.contain(`the last ${said.length} B of 97.7 KiB`)
      .and.to.match(/31m\nnext<\/pre>/);
  });

  it('has a bar for each host of a chain', () => {
    const hops = Array.from({ length: 32 }, (_, rank) =>
      hopReport({ link: 3 * rank + 1, chain: 1, rank, to: `n${rank}` }),
    );
    const stages = hops.map(({ to, rank = 0 }) => stageReport({ stage: 2, rank, host: to }));
    const text = page({ report: report({ hops, stages }) });
    expect(text.match(/<meter /g)).to.have.lengthOf(64);
    expect(text).to.contain('<th scope="row">n31</th><td><span class="good">succeeded</span></td>');
    expect(page()).not.to.contain('<meter');
  });

  it('has a bar for each host that sends to one, and for each of several pairs', () => {
    const ranks = [0, 1, 2];
    const gathered = ranks.map((rank) =>
      hopReport({ link: rank + 1, rank, from: `n${rank}`, to: 'h9', inputMs: 100 * rank }),
    );
    const pairs = ranks.map((rank) => hopReport({ link: rank + 5, rank, from: `n${rank}`, to: `m${rank}` }));
    const stages = ranks.map((rank) => stageReport({ stage: 1, rank, host: `n${rank}` }));
    const text = page({ report: report({ hops: [...gathered, ...pairs], stages }) });
    expect(text.match(/<meter /g)).to.have.lengthOf(12);
    expect(text).to.contain('<th scope="row">n2</th><td><span class="good">succeeded</span></td>');
    expect(text).to.contain('<th scope="row">m2</th>').and.to.contain('waited for input</th>');
  });
});
