import { expect } from 'chai';
import { needsLocal, splitSegments } from '../../src/plan/segments.ts';
import { parse } from '../parse/helpers.ts';

type Stdin = 'send' | 'null';
type Stdout = 'arrive' | 'drop';

describe('segments', () => {
  /** Segments as `before|stage numbers|after`. */
  const CASES: readonly (readonly [readonly string[], Stdin, Stdout, readonly string[], boolean])[] = [
    [['h1:a', 'h2:b'], 'send', 'arrive', ['stdin|1,2|stdout'], true],
    [['h1:a', 'h2:b'], 'null', 'drop', ['null|1,2|null'], false],
    [['h1:< f', 'h2:> g'], 'send', 'arrive', ['-|1,2|-'], false],
    [['h1:a', 'h1:< f', 'h2:b'], 'send', 'arrive', ['stdin|1|null', '-|2,3|stdout'], true],
    [['h1:a', 'h2:> f', 'h2:< g'], 'send', 'arrive', ['stdin|1,2|-', '-|3|stdout'], true],
    [['h1:> f', 'h2:< g'], 'send', 'drop', ['stdin|1|-', '-|2|null'], true],
    [['h1:< f', 'h2:< g', 'h2:< h'], 'send', 'arrive', ['-|1|null', '-|2|null', '-|3|stdout'], true],
    [['h1:> f'], 'null', 'arrive', ['null|1|-'], false],
  ];
  for (const [words, stdin, stdout, expected, local] of CASES) {
    it(`splits ${words.join(' ')} (${stdin}, ${stdout})`, () => {
      const pipeline = parse(words);
      const shapes = splitSegments(pipeline, { stdin, stdout });
      const text = shapes.map(({ before, stages, after }) => {
        return `${before ?? '-'}|${stages.map(({ number }) => number).join(',')}|${after ?? '-'}`;
      });
      expect(text).to.deep.equal(expected);
      expect(needsLocal(pipeline, { stdin, stdout })).to.equal(local);
    });
  }
});
