import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../../../test/support/eventually.ts';
import { isRunning } from '../../../../../test/support/processes.ts';
import { SessionError } from '../../../src/model/errors.ts';
import { destinationOf } from '../../../src/session/destination.ts';
import { createConfigReader } from '../../../src/session/openssh/config-reader.ts';
import { hostRef } from '../ssh-hosts.ts';

const NEVER = new AbortController().signal;
const at = (name: string) => destinationOf(hostRef(name), { configFile: undefined, options: [`Tag=a'b c`] });

describe('a reader of configurations', () => {
  let directory: string;
  const ssh = () => ({ path: join(directory, "an ssh's"), env: { VALUE: 'from the environment' } });
  const asked = () => readFileSync(join(directory, 'asked'), 'utf8').trimEnd().split('\n');

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
    sshRuns(`echo "hostname $host.example"; echo "user $VALUE"`);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** The script gets `$host`; a warning of ssh is not part of the configuration. */
  function sshRuns(script: string): void {
    const program = `#!/bin/sh
for host; do :; done
[ "$2 $3" = "-o Tag=a'b c" ] || exit
echo "$host" >>'${directory}/asked'
echo 'a warning' >&2
${script}
`;
    writeFileSync(ssh().path, program);
    chmodSync(ssh().path, 0o755);
  }

  it('asks once for each host, in few shells, and for others when they are needed', async () => {
    const names = ['h1', 'h2', 'h3', 'h4', 'h5'];
    const read = createConfigReader(ssh(), names.map(at), 2, NEVER);
    for (const name of [...names, ...names, 'jump', 'jump']) {
      expect([...(await read(at(name), NEVER))]).to.deep.equal([
        ['hostname', [`${name}.example`]],
        ['user', ['from the environment']],
      ]);
    }
    expect(asked().sort()).to.deep.equal([...names, 'jump']);
  });

  it('reports the host whose configuration ssh rejects', async () => {
    sshRuns(`if [ $host = h2 ]; then echo 'Bad port' >&2; exit 255; fi; echo "hostname $host"`);
    const read = createConfigReader(ssh(), ['h1', 'h2', 'h3'].map(at), 1, NEVER);
    const [first, second, third] = await Promise.allSettled(['h1', 'h2', 'h3'].map((name) => read(at(name), NEVER)));
    expect([first?.status, third?.status]).to.deep.equal(['fulfilled', 'fulfilled']);
    const error = second?.status === 'rejected' ? second.reason : undefined;
    expect(error).to.be.instanceOf(SessionError).with.property('host', 'h2');
    expect(String(error)).to.include('a warning');
  });

  it('fails for the hosts that are left if the shell is killed', async () => {
    sshRuns(`if [ $host = h2 ]; then kill -9 $PPID; fi; echo "hostname $host"`);
    const read = createConfigReader(ssh(), ['h1', 'h2', 'h3'].map(at), 1, NEVER);
    const outcomes = await Promise.allSettled(['h1', 'h2', 'h3'].map((name) => read(at(name), NEVER)));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'rejected']);
  });

  it('ends ssh when the run is given up', async () => {
    sshRuns(`echo $$ >'${directory}/pid'; sleep 1000000`);
    const controller = new AbortController();
    const read = createConfigReader(ssh(), ['h1', 'h2'].map(at), 1, controller.signal);
    const pid = await eventually(() => {
      const text = readFileSync(join(directory, 'pid'), 'utf8');
      expect(text).to.match(/\n/);
      return Number(text);
    });
    const reason = new Error('given up');
    controller.abort(reason);
    expect(await read(at('h2'), NEVER).catch((error: unknown) => error)).to.equal(reason);
    await eventually(() => expect(isRunning(pid)).to.equal(false));
  });
});
