import { expect } from 'chai';
import { parseHosts } from '../../src/parse/hosts.ts';
import { usageErrorOf } from './helpers.ts';

describe('hosts', () => {
  it('are read as in stages; a colon is this machine', () => {
    const hosts = parseHosts(['h1', 'ann@[2001:db8::1]', ':'], [{ flag: '--sudo', host: 'ann@2001:db8::1' }]);
    expect(hosts.map(({ label }) => label)).to.deep.equal(['h1', 'ann@[2001:db8::1]', 'this machine']);
  });

  const WRONG: readonly (readonly [readonly string[], string])[] = [
    [[], 'no host given (rdpipe doctor [options] HOST...)'],
    [['h1', ''], 'a host name is empty (use : for this machine)'],
    [['h1:true'], 'h1:true is a stage (give only the host)'],
    [['2001:db8::1'], '2001:db8::1 is a stage (give only the host)'],
    [['@h1'], 'host @h1 has no user before @'],
    [['h2'], "--data: no host is called 'h1'"],
  ];
  for (const [words, message] of WRONG) {
    it(`refuse '${words.join(' ')}'`, () =>
      expect(usageErrorOf(() => parseHosts(words, [{ flag: '--data', host: 'h1' }])).message).to.equal(message));
  }
});
