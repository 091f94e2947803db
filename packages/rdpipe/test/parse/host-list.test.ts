import { expect } from 'chai';
import { execaSync } from 'execa';
import fc from 'fast-check';
import { needsTool } from '../../../../test/support/needs.ts';
import { UsageError } from '../../src/model/errors.ts';
import { expandHostList } from '../../src/parse/host-list.ts';

describe('expandHostList', () => {
  for (const [text, hosts] of [
    ['h1', ['h1']],
    ['h2,h1', ['h2', 'h1']],
    ['n[1-3]', ['n1', 'n2', 'n3']],
    ['n[08-11]', ['n08', 'n09', 'n10', 'n11']],
    ['n[1-2,7]', ['n1', 'n2', 'n7']],
    ['n[0-30/10]', ['n0', 'n10', 'n20', 'n30']],
    ['r[1-2]n[1-2]', ['r1n1', 'r1n2', 'r2n1', 'r2n2']],
    ['n[1-2].lab,x', ['n1.lab', 'n2.lab', 'x']],
    ['ann@n[1-2],bob@n1', ['ann@n1', 'ann@n2', 'bob@n1']],
    ['h1,h1,n[1-2],n2', ['h1', 'n1', 'n2']],
    ['[2001:db8::1],h1', ['[2001:db8::1]', 'h1']],
    ['n[1-4]!n[2-3]', ['n1', 'n4']],
    ['n[1-4]!n2,n2!n4', ['n1', 'n3', 'n2']],
    ['n1!n9', ['n1']],
    ['ann@n[1-3]!n2!bob@n3', ['ann@n1', 'ann@n3']],
    ['', ['']],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(expandHostList(text)).to.deep.equal(hosts));
  }

  it('accepts groups of the config file, also nested', () => {
    const groups = new Map([
      ['rack1', 'n[1-2],x'],
      ['all', '@rack1,y,n1'],
    ]);
    expect(expandHostList('h1,@all', groups)).to.deep.equal(['h1', 'n1', 'n2', 'x', 'y']);
    expect(expandHostList('@all!@rack1,n2', groups)).to.deep.equal(['y', 'n2']);
    expect(() => expandHostList('@none', groups))
      .to.throw(UsageError, /no group none/)
      .with.property('detail', 'write it there: none = "n[1-4]"');
    expect(() =>
      expandHostList(
        '@a',
        new Map([
          ['a', '@b'],
          ['b', '@a'],
        ]),
      ),
    ).to.throw(/group a .* names itself/);
  });

  for (const [text, reason] of [
    ['h1,,h2', /empty item/],
    ['h1,', /empty item/],
    [',h1', /empty item/],
    ['n1!', /empty item/],
    ['!n1', /empty item/],
    ['n1!n[1-2]', /leaves no host/],
    ['n[1-', /bracket/],
    ['n1]', /bracket/],
    ['n[a-c]', /'a-c' is not a number/],
    ['n[]', /'' is not a number/],
    ['n[3-1]', /runs backwards/],
    ['n[1-4/0]', /is not a number/],
    ['n[1-100000]', /more than 10000 hosts/],
    ['r[1-200]n[1-200]', /more than 10000 hosts/],
  ] as const) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(() => expandHostList(text)).to.throw(reason));
  }

  it('reads lists as ClusterShell does', function () {
    needsTool(this, 'nodeset');
    const lists = fc.sample(hostLists, 1000);
    // Expands each list like `nodeset -e`, but all in one process.
    const script =
      'import sys; from ClusterShell.NodeSet import NodeSet\n' +
      'for line in sys.stdin: print(" ".join(NodeSet(line.strip())))';
    const { stdout } = execaSync('/usr/bin/python3', ['-c', script], {
      input: lists.map((list) => `${list}\n`).join(''),
    });
    const theirs = stdout.split('\n').map((line) => line.split(' ').sort());
    expect(theirs).to.have.length(lists.length);
    lists.forEach((list, index) => {
      expect(sorted(list), list).to.deep.equal(theirs[index]);
    });
  });
});

/** A list that leaves no host is an error here, and an empty line there. */
function sorted(list: string): readonly string[] {
  try {
    return [...expandHostList(list)].sort();
  } catch (error) {
    if (!/leaves no host/.test(String(error))) throw error;
    return [''];
  }
}

const range = fc
  .tuple(fc.nat(120), fc.nat(6), fc.constantFrom(0, 0, 3), fc.constantFrom('', '', '/2'))
  .map(([from, more, digits, step]) => {
    const pad = (number: number) => String(number).padStart(digits, '0');
    return more === 0 ? pad(from) : `${pad(from)}-${pad(from + more)}${step}`;
  });
const brackets = fc.uniqueArray(range, { minLength: 1, maxLength: 3 }).map((ranges) => `[${ranges.join(',')}]`);
const host = fc
  .tuple(fc.constantFrom('n', 'node-', 'r'), fc.array(brackets, { maxLength: 2 }), fc.constantFrom('', '.lab'))
  .map(([name, parts, domain]) => `${name}${parts.join('x')}${domain}`);
const hostLists = fc
  .array(fc.tuple(fc.constantFrom(',', ',', '!'), host), { minLength: 1, maxLength: 4 })
  .map((hosts) => hosts.map(([operator, text], index) => (index === 0 ? text : operator + text)).join(''));
