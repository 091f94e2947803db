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

  it('listens as the configuration of the host says', async () => {
    const port = await server('0');
    await lab.write('bound.sock', Buffer.from('a file'));
    const { end } = await forward(
      `-o GatewayPorts=yes -o StreamLocalBindUnlink=yes -o 'LocalForward=20186 localhost:${port}' \
        -L 20185:localhost:${port} -L localhost:20187:localhost:${port} -L $PWD/bound.sock:localhost:${port}`,
    );
    for (const place of ['20185', '20186', '20187', join(lab.directory, 'bound.sock')])
      succeeded(await lab.sh(clients(place, 'echo 5')), 'well\n');
    for (const [open, status] of [
      [20185, 0],
      [20186, 0],
      [20187, 1],
    ] as const)
      expect(await lab.sh(`{ : </dev/tcp/127.0.0.9/${open}; } 2>/dev/null`), `${open}`).to.include({ status });
    await end('SIGTERM');
  });

  it('serves the other forwards if a port is in use, unless ExitOnForwardFailure is set', async () => {
    const port = await server('0');
    const used = `cannot listen on port ${port}: address already in use\n`;
    const forwards = `-L ${port}:localhost:1 -R ${port}:localhost:1`;
    const run = await forward(`${forwards} -L 20185:localhost:${port}`);
    succeeded(await lab.sh(clients('20185', 'echo 5')), 'well\n');
    expect(await run.complaints()).to.include(`rdssh: ${used}rdssh: the other host: ${used}`);
    await run.end('SIGTERM');
    const strict = await lab.sh(`rdssh -o ExitOnForwardFailure=yes -N -L 20185:localhost:1 ${forwards} h1`);
    expect(strict).to.include({ status: 255, stderr: `rdssh: ${used}` });
    const none = await lab.sh(`rdssh -N ${forwards} h1`);
    expect(none).to.include({ status: 255 });
    expect(none.stderr).to.equal(
      `rdssh: ${used}rdssh: the other host: ${used}rdssh: none of the forwards can listen\n`,
    );
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
