import { expect } from 'chai';
import { parseHosts } from '../../src/parse/hosts.ts';
import { PLAIN_SETTINGS, usageErrorOf } from './helpers.ts';

describe('hosts', () => {
  it('are read as in stages; a colon is this machine', () => {
    const words = ['h1', 'ann@[2001:db8::1]', ':', 'n[1-3]!n2', '@rack'];
    const hosts = parseHosts(words, settings('--sudo', 'ann@2001:db8::1'));
    const labels = ['h1', 'ann@[2001:db8::1]', 'this machine', 'n1', 'n3', 'x1', 'x2'];
    expect(hosts.map(({ label }) => label)).to.deep.equal(labels);
  });

  const WRONG: readonly (readonly [readonly string[], string])[] = [
    [[], 'no host given (rdpipe doctor [options] HOST...)'],
    [['h1', ''], 'a host name is empty (use : for this machine)'],
    [['h1:true'], 'h1:true is a stage (give only the host)'],
    [['2001:db8::1'], '2001:db8::1 is a stage (give only the host)'],
    [['@h1'], 'there is no group h1 in [groups] of the config file'],
    [['h1', 'h[1-'], 'the list of hosts h[1- has an unmatched bracket'],
    [['h2'], "--data: no host is called 'h1'"],
  ];
  for (const [words, message] of WRONG) {
    it(`refuse '${words.join(' ')}'`, () =>
      expect(usageErrorOf(() => parseHosts(words, settings('--data', 'h1'))).message).to.equal(message));
  }
});

function settings(flag: string, host: string): Parameters<typeof parseHosts>[1] {
  return { ...PLAIN_SETTINGS, namedHosts: [{ flag, host }], groups: new Map([['rack', 'x[1-2]']]) };
}
