// SPDX-License-Identifier: Apache-2.0
// Forwarded connections over real hops: the two ends of rdforward, with rdpipe between them.
// test/full has more tests.
import { join } from 'node:path';
import { expect } from 'chai';
import { KILLED, testClients, testKills } from '../support/forward-cells.ts';
import { RDHOP, useForwards } from '../support/forwards.ts';
import { signalProcess } from '../support/processes.ts';
import { sample } from '../support/sample.ts';
import { succeeded } from '../support/shell.ts';

describe('rdforward over hops', () => {
  const { lab, forward, server, clients } = useForwards();

  it('carries connections in both directions, also to sockets with a path', async () => {
    const port = await server('0');
    const socket = await server(join(lab.directory, 'h1.sock'));
    const local = join(lab.directory, 'here.sock');
    const run = await forward(`-L 20183:localhost:${port} -L ${local}:${socket} -R 0:127.0.0.1:${port}`);
    for (const place of ['20183', local, run.ports[0] ?? ''])
      succeeded(await lab.sh(clients(place, 'echo 20')), 'well\n');
    const { status } = await run.end('SIGTERM');
    expect(status).to.equal(255);
    expect(await lab.list()).not.to.include('here.sock');
    expect(await run.complaints()).to.match(/^(Allocated port .*\n)+$/);
  });

  it('also ends when the near end is killed', async () => {
    const port = await server('0');
    const run = await forward(`-L 20183:localhost:${port}`);
    expect((await run.end('SIGKILL')).signal).to.equal('SIGKILL');
  });

  it('names a port that is in use, here before anything starts and there', async () => {
    const port = await server('0');
    const here = await lab.sh(`'${RDHOP}' rdforward -L ${port}:localhost:1 -- touch started`);
    expect(here).to.include({ status: 255 });
    expect(here.stderr).to.equal(`rdforward: cannot listen on port ${port}: address already in use\n`);
    expect(await lab.list()).not.to.include('started');
    const there = await lab.sh(`rdssh -N -R ${port}:localhost:1 h1`);
    expect(there).to.include({ status: 255 });
    expect(there.stderr).to.equal(`rdssh: the other host: cannot listen on port ${port}: address already in use\n`);
  });

  it('goes to the background when all ports listen, and is ended by a signal', async () => {
    const port = await server('0');
    const result = await lab.sh(`rdssh -fNL 20184:localhost:${port} h1 2>errors`);
    succeeded(result, '');
    expect((await lab.read('errors')).toString()).to.equal('');
    succeeded(await lab.sh(clients('20184', 'echo 5')), 'well\n');
    const near = lab.processes('rdforward').find(({ command }) => command.includes('20184'));
    signalProcess(near?.pid ?? 0, 'SIGTERM');
  });
});

describe('forwarded connections', () => {
  testClients('hops', ['echo 200', ...sample(['half-close', 'peer-resets', 'stall 2'], 1)]);
  testKills(sample(KILLED, 1));
});
