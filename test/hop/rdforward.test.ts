// SPDX-License-Identifier: Apache-2.0
// Two ends of rdforward joined by pipes, and far ends that violate the protocol.
// test/full tests more connections at once.
import { expect } from 'chai';
import { RDHOP, useForwards } from '../support/forwards.ts';
import { succeeded } from '../support/shell.ts';

/** A far end that agrees on one target, and then sends the data that its argument names. */
const HOSTILE = `
import os, signal, struct, sys
record = lambda kind, stream, body=b'': struct.pack('<IIQ', len(body), kind, stream) + body
table = record(1, 0, struct.pack('<I', 1)) + record(7, 0)
says = {
  'garbage': b'x' * 100,
  'unknown': table + record(99, 0),
  'unasked': table + record(8, 2, struct.pack('<HI', 0, 65536)),
  'stranger': table + record(11, 1, b'x'),
  'twice': table + record(7, 0),
  'cut': table + record(11, 1, b'x')[:5],
  'huge': struct.pack('<IIQ', 0xffffffff, 11, 1),
}
def state_of(pid): return open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0]
def leave(near):
  # It finds a record when it goes on, and the end with it.
  got = b''
  while struct.pack('<IQ', 8, 1) not in got: got += os.read(0, 65536)
  while state_of(near) != 'S': pass
  os.kill(near, signal.SIGSTOP)
  while state_of(near) != 'T': pass
  os.write(1, record(14, 1))
  os.close(1)
  os.kill(near, signal.SIGCONT)
os.write(1, says.get(sys.argv[1], table))
if sys.argv[1] == 'leave': leave(os.getppid())
while os.read(0, 65536): pass
`;

describe('rdforward', () => {
  const { lab, forward, server, clients } = useForwards();

  it('carries connections over any pair of pipes, also with few descriptors', async () => {
    const port = await server('0');
    const far = `'${RDHOP}' rdforward --far`;
    await forward(`-L 20411:localhost:${port} -L 20413:127.0.0.1:9`, far);
    for (const words of ['echo 100', 'half-close', 'peer-resets'])
      succeeded(await lab.sh(clients('20411', words)), 'well\n');
    succeeded(await lab.sh(clients('20413', 'refused')), 'well\n');
    await forward(`-L 20412:localhost:${port}`, `bash -c "ulimit -n 40; exec ${far}"`);
    succeeded(await lab.sh(clients('20412', 'echo 20')), 'well\n');
  });

  it('accepts a connection later if no descriptor is free', async () => {
    const port = await server('0');
    const near = `bash -c 'ulimit -n 30; exec "$@"' near`;
    await forward(`-L 20414:localhost:${port}`, `'${RDHOP}' rdforward --far`, near);
    // The clients finish one by one, but more of them wait than there are descriptors.
    const one = clients('20414', 'echo 4');
    succeeded(await lab.sh(`for i in 1 2 3 4 5 6 7 8 9 10; do ${one} & done; wait`), 'well\n'.repeat(10));
  });

  it('ends with one line on a far end that breaks the protocol', async () => {
    await lab.write('far.py', Buffer.from(HOSTILE));
    for (const [kind, why] of [
      ['garbage', /unknown type/],
      ['unknown', /unknown type 99/],
      ['unasked', /may not open/],
      ['stranger', /for no connection/],
      ['twice', /for no connection/],
      ['huge', /malformed/],
    ] as const) {
      const result = await lab.sh(`'${RDHOP}' rdforward -L 20415:localhost:1 -- python3 far.py ${kind}`);
      expect(result.status, kind).to.equal(255);
      expect(result.stderr, kind).to.match(why);
      expect(result.stderr.trimEnd().split('\n'), kind).to.have.length(1);
    }
  });

  it('sees the end of the other end after its last record', async () => {
    await lab.write('far.py', Buffer.from(HOSTILE));
    const near = lab.start(`'${RDHOP}' rdforward -L 20416:localhost:1 -- python3 far.py leave`);
    const client = 'until (exec 3<>/dev/tcp/127.0.0.1/20416 || exit; cat <&3; true) 2>/dev/null; do sleep 0.05; done';
    succeeded(await lab.sh(client), '');
    const { status, stderr } = await near.result;
    expect({ status, stderr }).to.deep.equal({ status: 255, stderr: 'rdforward: the other end is gone\n' });
  });
});
