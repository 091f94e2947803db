// SPDX-License-Identifier: Apache-2.0
// `rdrecv --serve` on a host: three clients at a time copy over RDMA,
// and unauthenticated peers get nothing meanwhile.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DISK, expectCopyOn, makeServedTree, RDCP, useCopyDisks } from '../lab/copy-disks.ts';
import { succeededOver } from '../lab/report.ts';
import { type HostName, useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { eventsOf } from '../support/copy-server.ts';
import { eventually } from '../support/eventually.ts';
import { TEST_MS } from '../support/patience.ts';
import { ROOT } from '../support/root.ts';
import { type Running, succeeded } from '../support/shell.ts';

const SERVED = `${DISK}/served`;
const ADDRESS = '10.77.0.2';
const PORT = 10470;
/** Ports of hops that end at the server. */
const HOP_PORTS = [21_700, 21_706] as const;
/** scan, compare, read and write are connected by three hops. */
const ALL_RDMA = ['rdma', 'rdma', 'rdma'];
/** Slow enough that unauthenticated peers connect meanwhile. */
const SLOWLY = '--limit 2M';
const KEY = `--keyfile ${DISK}/key`;

describe('a serving receiver over RDMA', () => {
  const lab = useVirtualHosts();
  useCopyDisks(lab);
  const tree = () => join(lab.homes, 'served-tree');

  before(async function () {
    this.timeout(2 * TEST_MS);
    makeServedTree(tree());
    const key = randomBytes(32).toString('hex');
    writeFileSync(join(lab.homes, 'key'), `${key}\n`, { mode: 0o600 });
    writeFileSync(join(lab.homes, 'other-key'), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    const hosts: readonly HostName[] = ['h1', 'h2', 'h3'];
    await Promise.all(hosts.map((host) => lab.on(host, `umask 077; echo ${key} > ${DISK}/key`)));
    lab.beginTest();
    succeeded(await lab.sh(`rdcp -aAX ~/served-tree/ h1:${DISK}/source/`), '');
    succeeded(await lab.sh(`rdcp --mkpath -aAX ~/served-tree/ h2:${SERVED}/there/`), '');
  });

  it('serves two writers and a reader at the same time, and no unauthenticated peer', async () => {
    const server = await serve();
    const copies = [
      lab.sh(`on h1 ${RDCP} ${KEY} --json ${SLOWLY} --transport rdma -aAX ${DISK}/source/ rd://h2/pushed/`),
      lab.sh(`on h3 ${RDCP} ${KEY} --json ${SLOWLY} --transport rdma -aAX rd://h2/there/ ${DISK}/pulled/`),
      // A hop also tries TCP after a quarter of that limit: unauthenticated peers and emulated hosts are slow.
      lab.sh(
        `rdcp --connect-timeout 120 --keyfile ~/key --json ${SLOWLY} -aAX h1:${DISK}/source/ rd://${ADDRESS}/third/`,
      ),
    ];
    await eventually(async () => expect(await printed('begin')).to.have.length(1));
    await comeAsStrangers();
    for (const copy of copies) succeededOver(await copy, '', ALL_RDMA);
    for (const path of ['pushed', 'third']) await expectCopyOn(lab, tree(), 'h2', `${SERVED}/${path}`);
    await expectCopyOn(lab, tree(), 'h3', `${DISK}/pulled`);
    await stop(server);
    const ends = (await printed('end')).map(({ direction, status }) => `${direction} ${status}`);
    expect(ends.sort()).to.deep.equal(['read complete', 'write complete', 'write complete']);
    expect(await printed('strangers')).to.have.length.above(0);
    expect(await lab.on('h2', `ls ${SERVED}`)).to.equal('pushed\nthere\nthird\n');
  });

  async function serve(): Promise<Running> {
    const words = `--serve ${SERVED} ${KEY} --json --ports ${HOP_PORTS.join('-')}`;
    const running = lab.start(`exec on h2 'echo $$ > ${DISK}/pid; exec ${ROOT}/bin/rdrecv ${words}' 2> events`);
    await eventually(async () => expect(await printed('serving')).to.have.length(1));
    return running;
  }

  async function stop(server: Running): Promise<void> {
    await lab.on('h2', `kill -TERM $(cat ${DISK}/pid)`);
    expect((await server.result).status).to.equal(0);
  }

  async function printed(event: string): Promise<Record<string, unknown>[]> {
    const text = (await lab.read('events')).toString();
    return eventsOf(text.slice(0, text.lastIndexOf('\n') + 1), event);
  }

  /** Connects with a different key, without the protocol, and to the ports of hops. */
  async function comeAsStrangers(): Promise<void> {
    const refused = await lab.sh(`rdcp --keyfile ~/other-key -r ~/served-tree rd://${ADDRESS}/stolen`);
    expect(refused.status).to.equal(125);
    expect(refused.stderr).to.include('the server has a different key');
    succeeded(await lab.sh(`head -c 3000 /dev/urandom > /dev/tcp/${ADDRESS}/${PORT}`), '');
    const knock = `timeout 10 rping -c -a ${ADDRESS} -C 1 -p $port > /dev/null 2>&1`;
    await lab.on('h3', `for port in $(seq ${HOP_PORTS.join(' ')}); do ${knock}; done; true`);
  }
});
