import { expect } from 'chai';
import { FixedMap } from '../../src/run/fixed-map.ts';

describe('a map with fixed keys', () => {
  for (const size of [0, 1, 31, 32, 33, 1000]) {
    it(`of ${size} keys has the values that it was given last, in order`, () => {
      const keys = Array.from({ length: size }, (_, index) => 7 * index);
      const first = FixedMap.of(new Map(keys.map((key) => [key, `${key}`])));
      const last = keys.reduce((map, key) => (key % 2 === 0 ? map.with(key, `new ${key}`) : map), first);
      expect(first.values()).to.deep.equal(keys.map(String));
      expect(last.values()).to.deep.equal(keys.map((key) => (key % 2 === 0 ? `new ${key}` : `${key}`)));
      for (const key of keys) expect(last.get(key)).to.equal(key % 2 === 0 ? `new ${key}` : `${key}`);
    });
  }

  it('gets no new keys', () => {
    const map = FixedMap.of(new Map([[1, 'a']]));
    expect(map.with(2, 'b')).to.equal(map);
    expect(map.get(2)).to.equal(undefined);
  });
});
