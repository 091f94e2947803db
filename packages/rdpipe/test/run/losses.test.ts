import { expect } from 'chai';
import { SessionError } from '../../src/model/errors.ts';
import type { Plan } from '../../src/model/plan.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { addFailure } from '../../src/run/collect.ts';
import { createLosses, losableSessions } from '../../src/run/losses.ts';
import { withLosses } from '../../src/run/requirement.ts';
import { type Failure, initialState } from '../../src/run/state.ts';
import { inputFor } from '../plan/helpers.ts';

const lostAgent = (host: string): Failure => ({
  kind: 'error',
  error: new SessionError('session_lost', host, `lost ${host}`),
});

describe('the hosts that a run can lose', () => {
  const planOf = (words: readonly string[]): Plan => makePlan(inputFor([...words], { stdout: 'drop' }));
  const losableOf = (words: readonly string[]) => {
    const plan = planOf(words);
    const labels = new Map(plan.sessions.map(({ id, label }) => [id, label]));
    return plan.segments.flatMap((segment) => [...losableSessions(segment)].map((id) => labels.get(id)));
  };

  for (const [words, hosts] of [
    [['h1:a', 'h2:b'], []],
    [
      ['h1:a', 'h2,self:b'],
      ['h2', 'self'],
    ],
    [['h1:a', 'h1,h2:b'], ['h2']],
    [['h1,h2:a'], []],
  ] as const) {
    it(`of ${words.join(' | ')}`, () => expect(losableOf(words)).to.deep.equal(hosts));
  }

  const begun = (failFast = false) => {
    const plan = planOf(['h1:a', 'h2,self:b']);
    const told: string[] = [];
    const losses = createLosses(plan, failFast, (session) => told.push(session));
    const [segment] = plan.segments;
    if (segment === undefined) throw new Error('the plan has a segment');
    return { plan, told, losses, begin: () => losses.begin(segment), state: initialState(plan) };
  };

  it('are lost once, after the commands began, except the last one', () => {
    const { losses, begin, state, told } = begun();
    expect(losses.absorb(lostAgent('h2'), state)).to.equal(false);
    begin();
    expect(losses.absorb(lostAgent('h2'), state)).to.equal(true);
    expect(losses.absorb(lostAgent('h2'), state)).to.equal(true);
    expect(told).to.have.length(1);
    expect(losses.absorb(lostAgent('h1'), state)).to.equal(false);
    expect(losses.absorb(lostAgent('self'), state)).to.equal(false);
  });

  it('are none with --fail-fast or after the end', () => {
    const hasty = begun(true);
    hasty.begin();
    expect(hasty.losses.absorb(lostAgent('h2'), hasty.state)).to.equal(false);
    const ended = begun();
    ended.begin();
    ended.losses.end();
    expect(ended.losses.absorb(lostAgent('h2'), ended.state)).to.equal(false);
  });

  it('never hide that data was changed', () => {
    const { losses, begin, state } = begun();
    begin();
    const link = state.links.values().at(-1)?.link.number ?? 0;
    const damaged = { kind: 'link', link, end: 'recv', result: 'failed', code: 'data_damaged', message: '' } as const;
    expect(losses.absorb(damaged, state)).to.equal(false);
  });

  for (const [require, left] of [
    ['all', 2],
    ['any', 0],
    [1, 0],
    [2, 2],
    [9, 2],
  ] as const) {
    it(`count as failures or not, with --require ${require}`, () => {
      const { plan, losses, begin, state } = begun();
      begin();
      const failures = [lostAgent('h2'), lostAgent('h2')];
      for (const failure of failures) losses.absorb(failure, state);
      const after = failures.reduce(addFailure, state);
      expect(withLosses(after, losses, plan, { require }).failures).to.have.length(left);
    });
  }
});
