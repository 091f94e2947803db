// SPDX-License-Identifier: Apache-2.0
// Forwarded connections: hundreds at once, many bytes at once, and readers that do not read.
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { CARRIERS, KILLED, testClients, testKills } from '../support/forward-cells.ts';
import { useForwards } from '../support/forwards.ts';
import { succeeded } from '../support/shell.ts';

const CLIENTS = ['echo 500', 'half-close', 'peer-resets', 'stall 20', 'bulk 8'];

/** Lease of the runs, longer than their stall timeout; IDLE_MS is longer than both. */
const LEASE_S = 5;
const IDLE_MS = 7000;

describe('forwarded connections', () => {
  for (const carrier of CARRIERS) testClients(carrier, CLIENTS);
  testKills(KILLED);
});

describe('a forward without connections, and one whose connection is silent', () => {
  const { lab, forward, server, clients } = useForwards();

  it('outlive the lease and the stall timeout', async () => {
    const port = await server('0');
    const limits = `--lease=${LEASE_S} --stall-timeout=${LEASE_S - 1}`;
    const empty = await forward(`${limits} -L 20184:localhost:${port}`);
    const silent = await forward(`${limits} -L 20185:localhost:${port}`);
    const line = `exec 3<>/dev/tcp/127.0.0.1/20185; printf e1 >&3; read -rN 1 <&3; read -r; printf 2 >&3; head -c 1 <&3`;
    const client = lab.start(`${line}; exec 3>&-`, { stdin: 'open' });
    await setTimeout(IDLE_MS);
    client.write('\n');
    expect((await client.result).text).to.equal('2');
    succeeded(await lab.sh(clients('20184', 'echo 5')), 'well\n');
    for (const { complaints } of [empty, silent]) expect(await complaints()).to.match(/^Allocated port .*\n$/);
  });
});
