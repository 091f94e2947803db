import { expect } from 'chai';
import { withGathers } from '../../src/plan/gather-stages.ts';
import { parse } from '../parse/helpers.ts';

describe('withGathers', () => {
  const gathersOf = (words: readonly string[], stdout: 'arrive' | 'drop' = 'arrive') =>
    withGathers(
      parse(words),
      { stdout },
      { gather: 'lines', fold: false, prefix: true, failFast: false },
    ).stages.flatMap((stage) =>
      stage.kind === 'gather' ? [{ host: stage.host.name, ins: stage.ins, labels: stage.labels }] : [],
    );

  for (const [words, gathers] of [
    [['h1:a', 'h2:b'], []],
    [['n[1-2]:a'], [{ host: '', ins: [1, 3], labels: ['n1: ', 'n2: '] }]],
    [['n[1-2]:a', 'h1:b'], [{ host: 'h1', ins: [1, 4], labels: undefined }]],
    [['n[1-2]:a', 'n[1-2]:b', ':c'], [{ host: '', ins: [2, 6], labels: undefined }]],
    [['h1:a', 'n[1-2]:> f'], []],
    [['n[1-2]:a', 'h1:< f'], []],
  ] as const) {
    it(`of ${words.join(' | ')}`, () => expect(gathersOf(words)).to.deep.equal(gathers));
  }

  it('folds only what arrives here, and leaves out names', () => {
    const last = (words: readonly string[], more: object) => {
      const settings = { gather: 'lines', fold: false, prefix: true, failFast: false, ...more } as const;
      return withGathers(parse(words), { stdout: 'arrive' }, settings, (name) => `<${name}>`)
        .stages.flatMap((stage) => (stage.kind === 'gather' ? [[stage.mode, stage.labels]] : []))
        .at(-1);
    };
    expect(last(['n[1-2]:a'], {})).to.deep.equal(['lines', ['<n1>', '<n2>']]);
    expect(last(['n[1-2]:a'], { prefix: false })).to.deep.equal(['lines', undefined]);
    expect(last(['n[1-2]:a'], { fold: true, prefix: false })).to.deep.equal(['fold', ['n1', 'n2']]);
    expect(last(['n[1-2]:a', ':b'], { fold: true })).to.deep.equal(['lines', undefined]);
  });

  it('does not gather discarded output', () => expect(gathersOf(['n[1-2]:a'], 'drop')).to.deep.equal([]));

  it('puts no names before JSON, and adds nothing before a stage that reads several inputs itself', () => {
    const tree = (number: number, more: object) => ({
      kind: 'tree' as const,
      number,
      host: { name: 'h1', user: undefined, label: 'h1' },
      text: '',
      settings: { role: 'compare' as const, run: 'a', plan: 'json' as const },
      ...more,
    });
    const parts = [0, 1].map((rank) => tree(1 + 2 * rank, { part: { position: 1, rank, width: 2 } }));
    const [first = tree(1, {}), ...rest] = parts;
    const gathered = withGathers(
      { stages: [first, ...rest] },
      { stdout: 'arrive' },
      { gather: 'lines', fold: false, prefix: true, failFast: false },
    ).stages.at(-1);
    expect(gathered)
      .to.deep.include({ kind: 'gather', ins: [1, 3] })
      .and.not.to.have.property('labels');
    const alone = { stages: [first, ...rest, tree(9, { ins: [1, 3] })] as const };
    expect(
      withGathers(alone, { stdout: 'drop' }, { gather: 'lines', fold: false, prefix: true, failFast: false }),
    ).to.deep.equal(alone);
  });

  it('gives every stage its own number', () => {
    const { stages } = withGathers(
      parse(['n[1-3]:a', 'h1:b', 'n[1-4]:c']),
      { stdout: 'arrive' },
      { gather: 'concat', fold: false, prefix: true, failFast: false },
    );
    expect(new Set(stages.map(({ number }) => number)).size).to.equal(stages.length);
  });
});
