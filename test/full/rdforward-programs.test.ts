// SPDX-License-Identifier: Apache-2.0
// Programs without support for rdpipe over forwarded connections:
// psql, pgbench, redis-benchmark, curl.
import { expect } from 'chai';
import { useForwards } from '../support/forwards.ts';
import { needsTool } from '../support/needs.ts';
import { AS_POSTGRES, makeDatabase, needsPostgres, POSTGRES } from '../support/postgres.ts';
import { succeeded } from '../support/shell.ts';

/** An HTTP server with a process per connection, as forking servers have. */
const HTTP_SERVER = `
import http.server, socketserver
class Server(socketserver.ForkingMixIn, http.server.HTTPServer): request_queue_size = 64
http.server.SimpleHTTPRequestHandler.protocol_version = 'HTTP/1.1'
Server(('127.0.0.1', 20294), http.server.SimpleHTTPRequestHandler).serve_forever()
`;

describe('programs over forwarded connections', () => {
  const { lab, forward, start } = useForwards();
  const answers = (line: string) => lab.sh(`until ${line} >/dev/null 2>&1; do sleep 0.1; done`);

  it('psql and pgbench with 8 clients', async function () {
    needsPostgres(this);
    const data = await makeDatabase(lab, 'db');
    await start(
      `${AS_POSTGRES} ${POSTGRES}/postgres -D ${data} -p 20291 -k ${data} -c listen_addresses=127.0.0.1 2>log`,
    );
    succeeded(await answers('psql -h 127.0.0.1 -p 20291 -U postgres -c "select 1"'), '');
    await forward(`-L 20292:localhost:20291 -L ${lab.directory}/.s.PGSQL.20292:${data}/.s.PGSQL.20291`);
    const to = '-h 127.0.0.1 -p 20292 -U postgres';
    succeeded(
      await lab.sh(`psql ${to} -Atc "select sum(n) from generate_series(1,100000) n" postgres`),
      '5000050000\n',
    );
    succeeded(await lab.sh(`psql -h ${lab.directory} -p 20292 -U postgres -Atc "select 7" postgres`), '7\n');
    const bench = await lab.sh(`pgbench -q -i -s 2 ${to} postgres 2>/dev/null && pgbench -c 8 -T 5 ${to} postgres`);
    expect(bench.status, bench.stderr).to.equal(0);
    expect(bench.text).to.match(/number of failed transactions: 0 /);
  });

  it('redis-benchmark with 50 clients', async function () {
    needsTool(this, 'redis-server', 'redis-benchmark');
    await start('redis-server --bind 127.0.0.1 --port 20296 --save "" >/dev/null');
    succeeded(await answers('redis-cli -p 20296 ping'), '');
    await forward('-L 20297:localhost:20296');
    const result = await lab.sh('redis-benchmark -p 20297 -c 50 -n 20000 -q -t set,get,lrange_100');
    expect(result.status, result.stderr).to.equal(0);
    expect(result.text)
      .to.match(/SET: [\d.]+ requests per second/)
      .and.match(/LRANGE_100 .*requests per second/);
  });

  it('curl against a server that forks', async function () {
    needsTool(this, 'curl', 'python3');
    await lab.write('server.py', Buffer.from(HTTP_SERVER));
    succeeded(await lab.sh('head -c 20000000 /dev/urandom >big'), '');
    await start('python3 server.py 2>log');
    succeeded(await answers('curl -s http://127.0.0.1:20294/server.py'), '');
    await forward('-L 20295:localhost:20294');
    const urls = 'http://127.0.0.1:20295/big?[1-20]';
    const result = await lab.sh(
      `curl --no-progress-meter --fail --parallel --parallel-max 10 -o 'got#1' '${urls}' && cat got* | wc -c`,
    );
    succeeded(result, '400000000\n');
    succeeded(await lab.sh('for i in $(seq 20); do cmp big got$i; done'), '');
  });
});
