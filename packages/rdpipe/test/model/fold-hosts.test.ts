import { expect } from 'chai';
import fc from 'fast-check';
import { foldHosts } from '../../src/model/fold-hosts.ts';
import { expandHostList } from '../../src/parse/host-list.ts';

describe('foldHosts', () => {
  for (const [names, list] of [
    ['n1', 'n1'],
    ['n3 n1 n2 n7 n2', 'n[1-3,7]'],
    ['r1n1 r1n2 r2n1', 'r1n[1-2],r2n1'],
    ['n1.lab n2.lab x', 'n[1-2].lab,x'],
    ['10.0.0.9 10.0.0.10', '10.0.0.[9-10]'],
    ['ann@n1 ann@n2 bob@n3', 'ann@n[1-2],bob@n3'],
    ['n08 n09 n10', 'n[08-10]'],
    ['n09 n10 n100 n9', 'n[09-10],n[9,100]'],
    ['[2001:db8::1] [2001:db8::2]', '[2001:db8::1],[2001:db8::2]'],
    ['n1234567890 n1234567891', 'n1234567890,n1234567891'],
  ] as const) {
    it(`of ${names}`, () => expect(foldHosts(names.split(' '))).to.equal(list));
  }

  it('names the same hosts', () => {
    const digits = fc.tuple(fc.nat(130), fc.constantFrom(0, 2, 3)).map(([n, width]) => String(n).padStart(width, '0'));
    const name = fc.tuple(fc.constantFrom('n', 'r1n', 'a-'), digits, fc.constantFrom('', '.lab'));
    fc.assert(
      fc.property(
        fc.uniqueArray(
          name.map((parts) => parts.join('')),
          { minLength: 1, maxLength: 40 },
        ),
        (names) => {
          expect([...expandHostList(foldHosts(names))].sort()).to.deep.equal([...names].sort());
        },
      ),
    );
  });
});
