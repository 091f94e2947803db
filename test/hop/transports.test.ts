// SPDX-License-Identifier: Apache-2.0
// Choosing a transport with --transport, on a machine with or without RDMA:
// no program listens over RDMA here.
import { expect } from 'chai';
import { KEY, PATIENT, useBench } from '../support/programs.ts';

const SHORT = ['--connect-timeout', '0.5'];

describe('rdsend and rdrecv choose a transport', () => {
  const bench = useBench(PATIENT);

  it('rdma never falls back to TCP', async () => {
    const receiver = bench.rdrecv(['--transport', 'tcp', '0', KEY]);
    const port = `${await receiver.port()}`;
    const refused = await bench.rdsend(['--transport', 'rdma', ...SHORT, '127.0.0.1', port, KEY]).ended;
    expect(refused.status).to.equal(3);
    expect(refused.stderr).to.match(/^rdsend: .*(?:RDMA|librdmacm).*\n$/);
    const sender = bench.rdsend(['--transport', 'tcp', '127.0.0.1', port, KEY]);
    expect([(await sender.ended).status, (await receiver.ended).status]).to.deep.equal([0, 0]);
  });

  it('auto connects to a TCP-only receiver, and to a TCP-only sender', async () => {
    for (const [from, to] of [
      ['auto', 'tcp'],
      ['tcp', 'auto'],
    ] as const) {
      const receiver = bench.rdrecv(['--transport', to, '0', KEY]);
      const sender = bench.rdsend(['--transport', from, '127.0.0.1', `${await receiver.port()}`, KEY]);
      expect([(await sender.ended).status, (await receiver.ended).status]).to.deep.equal([0, 0]);
    }
  });

  it('a receiver over RDMA only ends with a message', async () => {
    const { status, stderr } = await bench.rdrecv(['--transport', 'rdma', ...SHORT, '0', KEY]).ended;
    expect(status).to.equal(3);
    expect(stderr).to.match(/^rdrecv: .*\n$/m);
  });

  it('rdrecv --rdma-check reports why there is no RDMA, or nothing', async () => {
    const { status, stdout, stderr } = await bench.rdrecv(['--rdma-check']).ended;
    expect(stdout.toString()).to.match(status === 0 ? /^$/ : /^[^\n]+\n$/);
    expect({ known: status === 0 || status === 3, stderr }).to.deep.equal({ known: true, stderr: '' });
  });
});
