// SPDX-License-Identifier: Apache-2.0
// The network of a chain is cut, but every host's session lives:
// all hosts still reached get the stream.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { configure } from '../support/namespaces.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { join, nft, usePathlessHosts } from '../support/pathless-hosts.ts';
import { chainStallSoon, limitWords, NEVER } from '../support/run-limits.ts';
import { CHAIN, startChain } from './chain-run.ts';

/** Far less than it takes to lose a host. */
const OUTAGE_MS = 1500;
const NAMES = ['h1', ...CHAIN];

describe('a chain over a network', () => {
  before(function () {
    needsSightOfPrograms(this);
  });
  const place = usePathlessHosts({
    names: NAMES,
    hosts: CHAIN.map((name) => ({ name })),
    tools: ['nft'],
    // One switch, in the namespace of the host `between`, which can reach all others.
    connect: (spaceOf) => {
      const space = spaceOf('between');
      configure(space, ['link add switch type bridge', 'link set switch up']);
      for (const [index, name] of NAMES.entries()) {
        join({ space: spaceOf(name), device: 'lan', address: addressOf(index) }, { space, device: `to-${name}` });
        configure(space, [`link set to-${name} master switch`]);
      }
    },
  });
  const { lab } = place;

  describe('if the link between two hosts is cut', () => {
    afterEach(() => nft(place.spaceOf('n2'), 'delete table ip cut'));

    it('continues over ssh, and reports it', async () => {
      const run = await startChain(lab, `${limitWords(chainStallSoon())} ${place.options}`, 'command');
      nft(place.spaceOf('n2'), cutFrom('n3'));
      const { status, stderr } = await run.letEnd();
      expect(status, stderr).to.equal(0);
      expect(stderr).to.contain('n2→n3 relayed over ssh through this machine');
      await run.expectCopies([]);
    });

    it('loses the second with --relay never', async () => {
      const run = await startChain(
        lab,
        `${limitWords(chainStallSoon())} --require any --relay never ${place.options}`,
        'command',
      );
      nft(place.spaceOf('n2'), cutFrom('n3'));
      const { status, stderr } = await run.letEnd();
      expect(status, stderr).to.equal(0);
      expect(stderr).to.contain('lost n3: its neighbours in the chain cannot reach it');
      await run.expectCopies(['n3']);
    });
  });

  it('loses a host that no longer has a network', async () => {
    const run = await startChain(
      lab,
      `${limitWords(chainStallSoon())} --require any --relay never ${place.options}`,
      'file',
    );
    configure(place.spaceOf('n2'), ['link set lan down']);
    const { status, stderr } = await run.letEnd();
    configure(place.spaceOf('n2'), ['link set lan up']);
    expect(status, stderr).to.equal(0);
    expect(stderr).to.contain('lost n2');
    await run.expectCopies(['n2']);
  });

  it('is complete when the network comes back', async () => {
    const run = await startChain(lab, `${limitWords(NEVER)} ${place.options}`, 'command');
    configure(place.spaceOf('n3'), ['link set lan down']);
    await delay(OUTAGE_MS);
    configure(place.spaceOf('n3'), ['link set lan up']);
    const { status, stderr } = await run.letEnd();
    expect(status, stderr).to.equal(0);
    await run.expectCopies([]);
  });
});

function addressOf(index: number): string {
  return `10.7.0.${index + 1}/24`;
}

function cutFrom(name: string): string {
  const address = addressOf(NAMES.indexOf(name)).replace('/24', '');
  return `table ip cut {
    chain in {
      type filter hook input priority 0
      ip saddr ${address} drop
    }
    chain out {
      type filter hook output priority 0
      ip daddr ${address} drop
    }
  }`;
}
