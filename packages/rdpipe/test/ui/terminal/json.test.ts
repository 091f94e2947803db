import { expect } from 'chai';
import { jsonLines } from '../../../../../test/support/json-output.ts';
import { UsageError } from '../../../src/model/errors.ts';
import type { RunEvent } from '../../../src/model/events.ts';
import { makePlan } from '../../../src/plan/plan.ts';
import { createJsonRenderer } from '../../../src/ui/terminal/json.ts';
import { wideInputFor } from '../../plan/helpers.ts';
import { copyReport, counters, createPage, planFor, report, tree } from '../helpers.ts';

function linesOf(events: readonly RunEvent[]): readonly Record<string, unknown>[] {
  const page = createPage();
  const renderer = createJsonRenderer(page.write);
  for (const event of events) renderer.handle(event);
  renderer.close();
  return parsed(page.text);
}

function parsed(text: string): readonly Record<string, unknown>[] {
  expect(text.replaceAll(/^\{.*\}\n/gm, '')).to.equal('');
  return jsonLines(text, 'run');
}

describe('json', () => {
  it('writes one event per line, with the version', () => {
    expect(linesOf([{ kind: 'suspended' }, { kind: 'log', message: 'a\nb' }])).to.deep.equal([
      { v: 1, kind: 'suspended' },
      { v: 1, kind: 'log', message: 'a\nb' },
    ]);
  });

  it('ends with the report', () => {
    const hosts = [{ host: 'h2', files: 1, bytes: 2, same: 3, removed: 4, failed: 5 }];
    const finished = report({ status: 1, lost: [{ host: 'h3', message: 'gone' }], copy: copyReport({ hosts }) });
    expect(linesOf([{ kind: 'finished', report: finished }])).to.deep.equal([{ kind: 'report', ...finished }]);
  });

  it('writes one object per path of a copy', () => {
    const event = { event: 'path', action: 'new', path: 'd/ü', bytes: 5 } as const;
    expect(linesOf([tree('write', event, 'h2')])).to.deep.equal([
      { v: 1, kind: 'tree', stage: 1, host: 'h2', role: 'write', ...event },
    ]);
  });

  it("writes stages' stderr as text, in whole characters", () => {
    const [first, second] = [Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1)];
    const stderr = (stage: number, data: Uint8Array) => ({ kind: 'stderr', stage, host: 'h1', data }) as const;
    expect(linesOf([stderr(1, first), stderr(2, Buffer.from('x\n')), stderr(1, second)])).to.deep.equal([
      { v: 1, kind: 'stderr', stage: 1, host: 'h1', text: '' },
      { v: 1, kind: 'stderr', stage: 2, host: 'h1', text: 'x\n' },
      { v: 1, kind: 'stderr', stage: 1, host: 'h1', text: 'ü' },
    ]);
  });

  it('shows an incomplete character of stderr', () => {
    const stderr = { kind: 'stderr', stage: 1, host: 'h1', data: Uint8Array.of(0x61, 0xc3) } as const;
    const lines = linesOf([stderr, { kind: 'finished', report: report() }]);
    expect(lines.map(({ kind, text }) => [kind, text])).to.deep.equal([
      ['stderr', 'a'],
      ['stderr', '\ufffd'],
      ['report', undefined],
    ]);
  });

  it('is harmless text for a terminal, whatever it contains', () => {
    const page = createPage();
    const message = '\u001b[2J\u009b2J\u202e\u2028\ud800\u{e0041}\u007f ä👍';
    createJsonRenderer(page.write).handle({ kind: 'log', message });
    expect(page.text.trimEnd()).to.match(/^[ -~ä👍]+$/u);
    expect(parsed(page.text)).to.deep.equal([{ v: 1, kind: 'log', message }]);
  });

  it('writes the commands of a plan as text', () => {
    const plan = planFor(['h1:tr a-z A-Z']);
    const [segment] = plan.segments;
    if (segment === undefined) throw new Error('the plan has no segment');
    const command = Buffer.from('a Buffer');
    const stages = segment.stages.map((each) => ({ ...each, stage: { ...each.stage, command } }));
    const withBuffer = { ...plan, segments: [{ ...segment, stages }] } as unknown as typeof plan;
    for (const [text, each] of [
      ['tr a-z A-Z', plan],
      ['a Buffer', withBuffer],
    ] as const)
      expect(JSON.stringify(linesOf([{ kind: 'planned', plan: each }]))).to.contain(`"command":"${text}"`);
  });

  it('writes a failure before the run as a report', () => {
    const page = createPage();
    createJsonRenderer(page.write).failure(new UsageError('wrong', 'picture'));
    expect(parsed(page.text)).to.deep.equal([
      {
        kind: 'report',
        v: 1,
        run: '',
        status: 2,
        cause: 'usage',
        causeStage: null,
        message: 'wrong',
        seconds: 0,
        stages: [],
        hops: [],
        leftBehind: [],
      },
    ]);
  });

  it('has the rank of a host in a stage on several hosts, and the stage as written', () => {
    const plan = makePlan(wideInputFor(['h1:< f', 'n[1-3]:cat']));
    const how = { code: 0, signal: null, stopped: false, consumerClosed: false };
    const exited = (stage: number) => ({ kind: 'stage_exited', stage, host: 'n3', ...how }) as const;
    const last = plan.segments[0]?.stages.at(-1);
    const number = last?.stage.number ?? 0;
    const [, event, hop] = linesOf([{ kind: 'planned', plan }, exited(number), counters({ link: last?.in ?? 0 })]);
    expect(event).to.deep.include({ kind: 'stage_exited', stage: 2, rank: 2, host: 'n3' });
    expect(hop).to.deep.include({ kind: 'counters', rank: 2 });
  });
});
