// SPDX-License-Identifier: Apache-2.0
// A receiver with an address in each of two networks: both carry the stream, and one of them may fail.
import { expect } from 'chai';
import { filterInput } from '../support/packet-filter.ts';
import { BIN } from '../support/programs.ts';
import { receiverAt } from '../support/rails.ts';
import { PORT, useRails } from './rails-run.ts';

describe('a receiver with two addresses', () => {
  const current = useRails();

  it('gets a stream over both, and the rest over the other one if a network begins to refuse', async () => {
    const run = current();
    await run.begin();
    filterInput(run.rails.receiver, `ip daddr ${receiverAt(0)} tcp dport ${PORT} reject with tcp reset`);
    run.goOn();
    run.goOn();
    await run.endsWell();
    expect(run.events()).to.include('"event":"broken"').and.include('"streams":2');
  });

  it('is refused with more addresses than can be used', async () => {
    const many = Array.from({ length: 9 }, (_, index) => `10.81.0.${index}`).join();
    const { ended } = current().start(current().rails.sender, `${BIN}/rdsend --key-fd 3 ${many} ${PORT} -`);
    const { status, stderr } = await ended;
    expect(status).to.equal(2);
    expect(stderr).to.include('HOST has more than 8 addresses');
  });
});
