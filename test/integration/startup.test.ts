// SPDX-License-Identifier: Apache-2.0
// A run starts only the processes and loads only the files that it needs:
// these are counted, because times belong in the benchmark. Unit tests of the script count the processes of a host
// before its agent. Also checks the memory that a run takes, as the kernel reports it.
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import { failed, succeeded } from '../support/shell.ts';

const MIB = 1024 * 1024;
/** From docs/notes/start-up.md. */
const RDPIPE_MAX_KIB = 120 * 1024;
const NATIVE_MAX_KIB = 24 * 1024;
/** Default of --buffer. */
const BUFFER_KIB = 8 * 1024;

const LOADED = join(import.meta.dirname, 'print-loaded.cjs');

/**
 * An ssh that logs the beginning of each message in an agent's channel: > from rdpipe, < from the host. It passes
 * `prepared` on when it has also passed `listen` on, which rdpipe sends without waiting for that answer: a unit test
 * shows it.
 */
const TALK = `#!/bin/bash
PATH=\${PATH#*:}
case "$*" in *' sh') ;; *) exec ssh "$@" ;; esac
pass() { echo "$1\${2:0:14}" >>talk.$$; printf '%s\\n' "$2"; }
note() { while IFS= read -r line; do
  [[ $1$line != '<'*'"prepared"'* ]] || until grep -qa '^>{"op":"listen"' talk.$$; do sleep 0.01; done
  pass "$1" "$line"
done; }
note '>' | ssh "$@" | note '<'
`;

describe('the start of a run', () => {
  const lab = useLab();
  const lines = async (name: string): Promise<string[]> => (await lab.read(name)).toString().trimEnd().split('\n');

  it('starts two ssh processes per host: configuration, connection', async () => {
    await lab.write('ssh', Buffer.from('#!/bin/sh\necho "$*" >>calls\nPATH=${PATH#*:} exec ssh "$@"\n'));
    succeeded(await lab.sh('chmod 755 ssh; echo hi | PATH=$PWD:$PATH rdpipe h1:cat h2:cat'), 'hi\n');
    const calls = await lines('calls');
    expect(calls).to.have.lengthOf(4);
    for (const kind of [/^-G /, /^-M -N /]) {
      expect(calls.filter((call) => kind.test(call))).to.have.lengthOf(2);
    }
  });

  it('logs in to a host while ssh reads the configuration of another', async () => {
    // The configuration of h2 is complete when the connection to h1 has begun.
    const wait = 'case "$*" in *-G*h2) until grep -q "^-M.*h1$" calls; do sleep 0.01; done ;; esac';
    const ssh = `#!/bin/sh\necho "$*" >>calls\n${wait}\nPATH=\${PATH#*:} exec ssh "$@"\n`;
    await lab.write('ssh', Buffer.from(ssh));
    succeeded(await lab.sh('chmod 755 ssh; echo hi | PATH=$PWD:$PATH timeout 60 rdpipe h1:cat h2:cat'), 'hi\n');
  });

  /** Logs its arguments and runs the real ssh. */
  const STAND_IN = '#!/bin/sh\necho "$*" >>calls\nexec ssh "$@"\n';
  const expectCallsOfJump = async () => {
    const calls = await lines('calls');
    for (const [kind, count] of [
      [/^-G /, 2],
      [/^-M -N /, 2],
      [/^-F none .* -W /, 1],
    ] as const) {
      expect(
        calls.filter((call) => kind.test(call)),
        calls.join('\n'),
      ).to.have.lengthOf(count);
    }
    expect(calls).to.have.lengthOf(5);
  };

  it('uses a replacement of ssh in PATH for everything, which may call ssh itself', async () => {
    await lab.write('ssh', Buffer.from(STAND_IN));
    succeeded(await lab.sh('chmod 755 ssh; PATH=$PWD:$PATH rdpipe behind:"echo hi"'), 'hi\n');
    await expectCallsOfJump();
  });

  it('uses the ssh of --ssh-program, from the flag and from the config file, for everything', async () => {
    const name = "my 100%h 'ssh";
    await lab.write(name, Buffer.from(STAND_IN));
    succeeded(await lab.sh(`chmod 755 "${name}"; rdpipe --ssh-program "${name}" behind:"echo hi"`), 'hi\n');
    await expectCallsOfJump();
    await lab.write('c.toml', Buffer.from(`[defaults]\nssh-program = "./${name}"\n`));
    succeeded(await lab.sh('rm calls; rdpipe --config c.toml behind:"echo hi"'), 'hi\n');
    await expectCallsOfJump();
  });

  for (const [path, why] of [
    ['/nowhere/ssh', /^rdpipe: the ssh program \/nowhere\/ssh cannot be run: no such file or directory$/m],
    ['/etc/passwd', /^rdpipe: the ssh program \/etc\/passwd is not executable$/m],
    ['/', /^rdpipe: the ssh program \/ is not a file$/m],
  ] as const) {
    it(`refuses --ssh-program ${path}`, async () =>
      failed(await lab.sh(`rdpipe --ssh-program ${path} h1:true`), 2, why));
  }

  it('takes five round trips per host: agent, prepare and listen, dial, go, finish', async () => {
    await lab.write('ssh', Buffer.from(TALK));
    // With the user's own connections, an ssh opens each channel.
    const each = (words: string) =>
      `for host in h1 h2; do ssh -F ${lab.homes}/ssh_config -S $PWD/master.$host ${words} $host; done >/dev/null 2>&1`;
    const run = 'echo hi | PATH=$PWD:$PATH rdpipe -o ControlPath=$PWD/master.%n h1:cat h2:cat';
    succeeded(
      await lab.sh(`chmod 755 ssh; ${each('-fMN')}; ${run}; status=$?; ${each('-O exit')}; exit $status`),
      'hi\n',
    );
    const talks = (await lab.list()).filter((name) => name.startsWith('talk.'));
    expect(talks).to.have.lengthOf(2);
    for (const talk of talks) {
      const said = await lines(talk);
      const turns = said.filter((line, index) => line.startsWith('>') && !said[index - 1]?.startsWith('>'));
      expect(turns, said.join('\n')).to.have.lengthOf(5);
    }
  });

  it('loads one file, as compiled by V8 at build time, and few modules of node', async () => {
    succeeded(await lab.sh('echo hi | rdpipe h1:cat h2:cat'), 'hi\n');
    const options = `NODE_OPTIONS='--require ${LOADED}'`;
    succeeded(await lab.sh(`echo hi | ${options} rdpipe h1:cat h2:cat`), 'hi\n');
    expect((await lines('loaded')).slice(0, -1)).to.deep.equal(['rdpipe.cjs', 'program.cjs: compiled before']);
  });

  it('takes no more memory than promised, however much data it carries', async () => {
    const options = `NODE_OPTIONS='--require ${LOADED}'`;
    const run = (mib: number) => lab.sh(`head -c ${mib}M /dev/zero | ${options} rdpipe --json h1:cat h2:cat | wc -c`);
    const native = async (mib: number) => {
      const result = await run(mib);
      expect(result.text).to.equal(`${mib * MIB}\n`);
      const ends = reportOf(result).hops.flatMap(({ sender, receiver }) => [sender, receiver]);
      expect(ends).to.have.lengthOf(6);
      return Math.max(...ends.map((end) => end?.maxRssKib ?? Number.POSITIVE_INFINITY));
    };
    const [little, much] = [await native(64), await native(512)];
    expect(much).to.be.below(NATIVE_MAX_KIB + BUFFER_KIB);
    expect(much).to.be.below(little + 4 * 1024);
    expect(Number((await lines('loaded')).at(-1))).to.be.below(RDPIPE_MAX_KIB);
  });

  it('passes the certificates that it hides from node to the programs that it starts', async () => {
    const result = await lab.sh("NODE_EXTRA_CA_CERTS=/none rdpipe ':echo $NODE_EXTRA_CA_CERTS $RDPIPE_EXTRA_CA_CERTS'");
    succeeded(result, '/none\n');
    expect(result.stderr).to.equal('');
  });
});
