// SPDX-License-Identifier: Apache-2.0
// Programs without support for RDMA, over RDMA:
// pgbench and psql on one host, PostgreSQL on another.
import { join } from 'node:path';
import { expect } from 'chai';
import { useVirtualHosts, type VirtualLab } from '../lab/use-virtual-hosts.ts';
import { AS_POSTGRES, makeDatabase, needsPostgres, POSTGRES } from '../support/postgres.ts';
import { ROOT } from '../support/root.ts';
import { succeeded } from '../support/shell.ts';

const CLIENTS = 8;
const TRANSACTIONS_EACH = 25;
const BULK_BYTES = 8_000_000;
/** The largest payload of an RDMA packet in any network. */
const LARGEST_PACKET = 4096;

/** Runs on h2; clients on h1 reach it only through the forward. */
const SERVER = `${AS_POSTGRES} ${POSTGRES}/pg_ctl -D /run/pg/db -l /run/pg/log -w`;
const SETTINGS = '-p 5432 -k /run/pg -c listen_addresses=127.0.0.1';

/** Runs on h1; the second forward shows that the first one is listening. */
const CLIENT = `
cd /tmp
'${join(ROOT, 'bin/rdssh')}' --persist=0 -v -N -L 5432:127.0.0.1:5432 -R 0:127.0.0.1:9 h2 </dev/null >said 2>&1 &
trap "kill $!" EXIT
until grep -q Allocated said; do kill -0 $! || exit; sleep 0.2; done
to='-h 127.0.0.1 -U postgres'
pgbench -n -S -M prepared -c ${CLIENTS} -t ${TRANSACTIONS_EACH} $to postgres 2>&1 | grep -E 'processed|failed'
psql $to -Atc "copy (select repeat('x', 7999) from generate_series(1, ${BULK_BYTES / 8000})) to stdout" postgres | wc -c
kill $!
wait $!
echo "status $?"
trap - EXIT
cat said
`;

describe('programs over RDMA', () => {
  let lab: VirtualLab;
  before(function () {
    needsPostgres(this);
  });
  // Runs before the lab checks that nothing was left.
  afterEach(() => lab.restore('h2', `cd / && ${SERVER} -m immediate stop >&2; rm -rf /run/pg`));
  lab = useVirtualHosts();

  it('pgbench and psql run over the RDMA device', async () => {
    await makeDatabase(lab, 'db');
    succeeded(await lab.sh("tar -cz db | on h2 'install -d -o postgres /run/pg && tar -xz -C /run/pg'"), '');
    await lab.on('h2', `cd / && ${SERVER} -o '${SETTINGS}' start </dev/null >&2`);
    await lab.on('h2', 'cd / && pgbench -q -i -h /run/pg -U postgres postgres 2>&1');
    const before = await lab.packets('h2');
    await lab.write('client', Buffer.from(CLIENT));
    const { text, status, stderr } = await lab.sh('on h1 bash -s <client');
    const after = await lab.packets('h2');
    expect(status, stderr).to.equal(0);
    const all = CLIENTS * TRANSACTIONS_EACH;
    expect(text).to.include(`actually processed: ${all}/${all}\n`).and.include('failed transactions: 0 ');
    expect(text).to.include(`\n${BULK_BYTES}\nstatus 255\n`);
    expect(text).to.match(/^this machine→h2 +rdma rxe0 authenticated /m);
    expect(text).to.match(/^h2→this machine +rdma rxe0 authenticated /m);
    // Requests that arrive while one is being sent may share a packet, at most one from each client.
    expect(after.received - before.received).to.be.at.least(TRANSACTIONS_EACH);
    expect(after.sent - before.sent).to.be.at.least(BULK_BYTES / LARGEST_PACKET);
  });
});
