import { expect } from 'chai';
import type { HostRef } from '../../src/model/pipeline.ts';
import { relayable, relayHost, withRelays } from '../../src/plan/relay-stages.ts';
import { parse } from '../parse/helpers.ts';

const RELAY: HostRef = { name: 'gw', user: undefined, label: 'gw' };

function found(...words: readonly string[]): readonly string[] {
  const pairs = relayable(parse(words), RELAY, ({ name }) => (name === '' ? 'local' : name));
  return pairs.map(({ from, to }) => `${from.number}→${to.number}`);
}

describe('a relay host', () => {
  it('may join neighbours on two hosts, neither of which is this machine', () => {
    expect(found('h1:a', 'h2:b', 'h2:c', 'h3:d')).to.deep.equal(['1→2', '3→4']);
    expect(found('h1:a', ':b', 'h2:c')).to.deep.equal([]);
    expect(found('h1:a', 'gw:b', 'h2:c')).to.deep.equal([]);
    expect(found('h1:a', 'h2:> f', 'h3:< f')).to.deep.equal(['1→2']);
  });

  it('is not connected if it could join nothing', () => {
    expect(relayHost(parse(['h1:a', 'h2:b']), RELAY)).to.equal(RELAY);
    for (const words of [['h1:a'], ['h1:a', 'h1:b'], ['h1:a', ':b'], ['h1:a', 'gw:b']]) {
      expect(relayHost(parse(words), RELAY), words.join(' ')).to.equal(undefined);
    }
    expect(relayHost(parse(['h1:a', 'h2:b']), 'auto')).to.equal(undefined);
  });

  it('gets its own stage between them, and later stages are renumbered', () => {
    const pipeline = parse(['h1:a', 'h2:b', 'h3:c']);
    const [, second] = relayable(pipeline, RELAY, ({ name }) => name);
    const { stages } = withRelays(pipeline, second === undefined ? [] : [second], RELAY);
    expect(stages.map(({ number, host, text }) => `${number} ${host.label}: ${text}`)).to.deep.equal([
      '1 h1: a',
      '2 h2: b',
      '3 gw: cat (relays h2→h3)',
      '4 h3: c',
    ]);
    expect(withRelays(pipeline, [], RELAY)).to.deep.equal(pipeline);
  });
});
