// SPDX-License-Identifier: Apache-2.0
// A peer without the key gets nothing, does not block other peers, and costs little.
// Some of the cases; test/full tests all of them.
import { expect } from 'chai';
import { needsSightOfPrograms } from '../support/needs.ts';
import { KEY, useBench } from '../support/programs.ts';
import { sample } from '../support/sample.ts';
import { ConnectionFlood } from './wire/connection-flood.ts';
import { UNAUTHENTICATED_CASES } from './wire/unauthenticated-cases.ts';
import { UNAUTHENTICATED_PEERS } from './wire/unauthenticated-peers.ts';

const SAMPLE = 30;

describe('an unauthenticated peer', () => {
  const bench = useBench();

  for (const { name, looksInside, check } of sample(UNAUTHENTICATED_CASES, SAMPLE))
    it(name, function () {
      if (looksInside) needsSightOfPrograms(this);
      return check(bench);
    });

  it('is reported by rdrecv once for each kind', async () => {
    const receiver = bench.rdrecv(['0', KEY]);
    const port = await receiver.port();
    const wrongKey = () => bench.rdsend(['127.0.0.1', `${port}`, 'cd'.repeat(32), '/dev/null']).ended;
    const guesses = await Promise.all([wrongKey(), wrongKey(), wrongKey()]);
    expect(guesses.map(({ status }) => status)).to.deep.equal([4, 4, 4]);
    for (const { behave } of UNAUTHENTICATED_PEERS.filter(({ name }) => /announces|frame|DATA/.test(name))) {
      const flood = new ConnectionFlood(port, 10, behave);
      await flood.hasConnected(30);
      flood.leave();
    }
    expect((await bench.rdsend(['127.0.0.1', `${port}`, KEY, '/dev/null']).ended).status).to.equal(0);
    const { status, stderr } = await receiver.ended;
    expect(status).to.equal(0);
    expect(stderr.match(/rejected: .*wrong key: /g)).to.have.length(1);
    expect(stderr.match(/rejected: .*(bytes \(|not a frame|malformed|a frame that is not part)/g)).to.have.length(1);
    // The line about listening, those two, and at most one line each about a lost and a too slow connection.
    expect(stderr.trim().split('\n').length).to.be.within(3, 5);
  });
});
