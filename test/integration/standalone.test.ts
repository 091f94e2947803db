// SPDX-License-Identifier: Apache-2.0
// A standalone hop: rdsend and rdrecv without rdpipe.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { succeeded } from '../support/shell.ts';

describe('rdsend and rdrecv without an agent', () => {
  const lab = useLab();
  /** A new one for each test: other programs on this machine might use a fixed port. */
  let port = 0;
  beforeEach(async () => {
    port = await freePort('0.0.0.0');
  });

  it('join two pipes', async () =>
    succeeded(
      await lab.sh(
        `rdrecv ${port} not-much-of-a-secret > out & echo hi | rdsend 127.0.0.1 ${port} not-much-of-a-secret && wait $! && cat out`,
      ),
      'hi\n',
    ));

  it('copy a file', async () =>
    succeeded(
      await lab.sh(
        `seq 100000 > in; rdrecv ${port} not-much-of-a-secret out & rdsend 127.0.0.1 ${port} not-much-of-a-secret in && wait $! && cmp in out`,
      ),
      '',
    ));

  it('may be started sender first', async () =>
    succeeded(
      await lab.sh(
        `echo hi | rdsend 127.0.0.1 ${port} not-much-of-a-secret & rdrecv ${port} not-much-of-a-secret > out && wait $! && cat out`,
      ),
      'hi\n',
    ));

  it('find a free port', async () => {
    const receiver = lab.start('exec rdrecv 0 not-much-of-a-secret 2> port');
    const found = await eventually(async () => portIn((await lab.read('port')).toString()));
    succeeded(await lab.sh(`echo hi | rdsend 127.0.0.1 ${found} not-much-of-a-secret`), '');
    expect((await receiver.result).text).to.equal('hi\n');
  });

  it('take the key from a descriptor', async () => {
    const key = '--key-fd 3';
    const result = await lab.sh(
      `rdrecv ${key} ${port} - > out 3< <(echo not-much-of-a-secret) & echo hi | rdsend ${key} 127.0.0.1 ${port} - 3< <(echo not-much-of-a-secret) && wait $! && cat out`,
    );
    succeeded(result, 'hi\n');
  });

  it('keep the descriptor of the key from their commands', async () => {
    await lab.write('key', Buffer.from('a-very-secret-key\n'));
    const command = "3< key -- sh -c 'cat; cat /proc/self/fd/3 2>&1; true'";
    const result = await lab.sh(`
      rdrecv --key-fd 3 ${port} - ${command} > received 2> /dev/null & receiver=$!
      rdsend --key-fd 3 127.0.0.1 ${port} - ${command} < /dev/null; wait $receiver; cat received`);
    expect(result.text).to.include('/proc/self/fd/3: No such file').and.not.include('a-very-secret-key');
  });

  it('refuse a wrong key and keep waiting', async () => {
    const receiver = lab.start(`exec rdrecv -q ${port} not-much-of-a-secret`);
    const refused = await lab.sh(`echo hi | rdsend 127.0.0.1 ${port} a-guess-of-somebody`);
    expect(refused.status).to.equal(4);
    expect(refused.stderr.trimEnd().split('\n')).to.have.length(1);
    expect((await lab.sh(`echo hi | rdsend 127.0.0.1 ${port} not-much-of-a-secret`)).status).to.equal(0);
    expect((await receiver.result).text).to.equal('hi\n');
  });

  it('run producer and consumer themselves', async () =>
    succeeded(
      await lab.sh(
        `rdrecv ${port} not-much-of-a-secret -- rev & rdsend 127.0.0.1 ${port} not-much-of-a-secret -- echo hi && wait $!`,
      ),
      'ih\n',
    ));

  it('end the consumer before it sees the end of a failed producer', async () => {
    const result = await lab.sh(`
      rdrecv ${port} not-much-of-a-secret -- sh -c 'cat > seen; touch committed' & receiver=$!
      rdsend 127.0.0.1 ${port} not-much-of-a-secret -- sh -c 'echo half; exit 3'; echo $?; wait $receiver; echo $?; ls`);
    expect(result.text).to.match(/^[^0]\d*\n9\n/);
    expect(await lab.list()).not.to.include('committed');
  });

  it('give up after the connect timeout', async () => {
    const result = await lab.sh(`echo hi | rdsend --connect-timeout 1 127.0.0.1 ${port} not-much-of-a-secret`);
    expect(result.status).to.equal(3);
    expect(result.stderr).to.match(/^rdsend: /);
  });

  it('end in SIGPIPE when the consumer ends early', async () => {
    const result = await lab.sh(`
      rdrecv ${port} not-much-of-a-secret | head -c 4 & yes | rdsend 127.0.0.1 ${port} not-much-of-a-secret; echo " \${PIPESTATUS[1]}"; wait`);
    expect(result.text, result.stderr).to.match(/^y\ny\n 141\n$/);
  });

  it('print their usage', async () => {
    for (const program of ['rdsend', 'rdrecv']) {
      expect((await lab.sh(program)).status).to.equal(2);
      expect((await lab.sh(`${program} --help`)).text).to.include('KEY');
    }
  });

  it('leave no key in their command lines', async function () {
    needsSightOfPrograms(this);
    const receiver = lab.start(`exec rdrecv ${port} a-very-secret-key`);
    const commands = () => lab.processes().map((process) => process.command);
    await eventually(() => expect(commands().join('\n')).to.include('rdrecv').and.not.include('a-very-secret-key'));
    receiver.kill('SIGTERM');
    await receiver.result;
  });
});

function portIn(text: string): string {
  const port = text.match(/\b\d{4,5}\b/)?.[0];
  if (port === undefined) throw new Error(`no port in: ${text}`);
  return port;
}
