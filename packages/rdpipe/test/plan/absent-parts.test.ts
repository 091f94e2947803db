import { expect } from 'chai';
import type { Pipeline, Stage } from '../../src/model/pipeline.ts';
import { withoutHosts } from '../../src/plan/absent-parts.ts';
import { withGathers } from '../../src/plan/gather-stages.ts';
import { parse } from '../parse/helpers.ts';

const written = (words: readonly string[]): Pipeline =>
  withGathers(
    parse([...words]),
    { stdout: words.at(-1)?.includes('>') ? 'drop' : 'arrive' },
    { gather: 'lines', fold: false, prefix: true, failFast: false },
  );

/** Returns the remaining hosts of each stage with their ranks, `n1/0`; for a gather stage with its inputs. */
function leftOf(words: readonly string[], names: readonly string[], require: 'all' | 'any' | number): string {
  const pipeline = written(words);
  const absent = new Set(pipeline.stages.map(({ host }) => host).filter(({ name }) => names.includes(name)));
  const left = withoutHosts(pipeline, absent, require);
  return typeof left === 'string' ? left : left.stages.map(nameOf).join(' ');
}

function nameOf(stage: Stage): string {
  if (stage.kind === 'gather') return `gather(${stage.ins.length}${stage.labels ? ` ${stage.labels.join()}` : ''})`;
  return `${stage.host.name}${stage.part ? `/${stage.part.rank}` : ''}`;
}

describe('a pipeline without hosts', () => {
  for (const [what, words, absent, require, left] of [
    ['all are present', ['h1:< x', 'n[1-3]:> y'], [], 'all', 'h1 n1/0 n2/1 n3/2'],
    ['one of a chain', ['h1:< x', 'n[1-3]:> y'], ['n2'], 'any', 'h1 n1/0 n3/2'],
    ['all but one', ['h1:< x', 'n[1-3]:> y'], ['n1', 'n2'], 1, 'h1 n3/2'],
    ['one of two stages rank by rank', ['h1:< x', 'n[1-3]:a', 'm[1-3]:> y'], ['m2'], 'any', 'h1 n1/0 n3/2 m1/0 m3/2'],
    [
      'one of another part of the run',
      ['h1:< x', 'n[1-2]:> y', 'm[1-2]:< y', 'm[1-2]:> z'],
      ['n1'],
      1,
      'h1 n2/1 m1/0 m2/1 m1/0 m2/1',
    ],
    ['a host whose output is gathered here', ['n[1-3]:a'], ['n1'], 'any', 'n2/1 n3/2 gather(2 n2: ,n3: )'],
    ['a host whose output is gathered there', ['n[1-3]:a', 'h1:b'], ['n3'], 2, 'n1/0 n2/1 gather(2) h1'],
    [
      'the last host',
      ['h1:< x', 'n[1-2]:> y'],
      ['n1', 'n2'],
      'any',
      '0 of 2 hosts are left, but --require any needs more',
    ],
    ['too many', ['h1:< x', 'n[1-3]:> y'], ['n1', 'n2'], 2, '1 of 3 hosts are left, but --require 2 needs more'],
    ['one of all', ['h1:< x', 'n[1-3]:> y'], ['n1'], 'all', '2 of 3 hosts are left, but all are required (--require)'],
    ['the first sender', ['h1:< x', 'n[1-3]:> y'], ['h1'], 'any', 'the pipeline cannot run without it'],
    ['a host of two stages', ['n1:< x', 'n[1-3]:> y'], ['n1'], 'any', 'the pipeline cannot run without it'],
    ['the host that gathers', ['n[1-3]:a', 'h1:b'], ['h1'], 'any', 'the pipeline cannot run without it'],
  ] as const) {
    it(`lacks ${what}`, () => expect(leftOf(words, absent, require)).to.equal(left));
  }

  it('still needs a host that is in no stage', () => {
    const relay = new Set([{ name: 'r', user: undefined, label: 'r' }]);
    expect(withoutHosts(written(['h1:a', 'h2:b > c']), relay, 'any')).to.contain('cannot run without it');
  });
});
