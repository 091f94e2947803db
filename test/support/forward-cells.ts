// SPDX-License-Identifier: Apache-2.0
// Tests of forwarded connections: few connections in npm test, hundreds at once in test/full.
import { expect } from 'chai';
import { RDHOP, useForwards } from './forwards.ts';
import { signalProcess } from './processes.ts';
import { succeeded } from './shell.ts';

export const CARRIERS = ['pipes', 'hops'] as const;
export const KILLED = ['rdforward', 'rdsend', 'rdrecv'] as const;

/** `clients`: the arguments of each run of `tcp-peers.py clients`. */
export function testClients(carrier: (typeof CARRIERS)[number], clients: readonly string[]): void {
  const forwards = useForwards();
  it(`carry connections over ${carrier}: ${clients.join(', ')}`, async () => {
    const port = await forwards.server('0');
    await forwards.forward(
      `-L 20181:localhost:${port}`,
      carrier === 'pipes' ? `'${RDHOP}' rdforward --far` : undefined,
    );
    for (const words of clients) succeeded(await forwards.lab.sh(forwards.clients('20181', words)), 'well\n');
  });
}

/** Tests that connections are cut and nothing is left if a program is killed. */
export function testKills(names: readonly (typeof KILLED)[number][]): void {
  const { lab, forward, server, clients } = useForwards();
  for (const name of names)
    it(`are cut when ${name} is killed, and nothing is left`, async () => {
      const port = await server('0');
      const run = await forward(`-L 20182:localhost:${port}`);
      const holding = lab.start(clients('20182', 'held 5'));
      await holding.printed('held');
      const killed = lab.processes(name).find(({ pid }) => pid !== run.pid);
      signalProcess(killed?.pid ?? 0, 'SIGKILL');
      expect((await holding.result).text).to.equal('held\nwell\n');
      expect((await run.result).status).to.equal(255);
    });
}
