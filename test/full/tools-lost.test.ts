// SPDX-License-Identifier: Apache-2.0
// Programs that use rdssh as their ssh, while the connection of their data breaks, and when their host is lost.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { childrenOf, signalProcess } from '../support/processes.ts';
import { succeeded } from '../support/shell.ts';

const LONGEST_MS = 300_000;
const MIB = 1 << 20;
/** A transfer lasts some seconds with the limit of the hops. */
const SOURCE = `set -e; mkdir tree; head -c 24M /dev/urandom > tree/big; for n in $(seq 20); do echo $n > tree/$n; done`;
const LIMIT = '--limit=6MB/s';

interface Use {
  readonly tool: string;
  /** Lines of bash: before the transfer, the transfer, and the comparison, which prints what differs. */
  readonly before?: string;
  readonly transfer: string;
  readonly compare: string;
  /** It kills its ssh when it has finished, so that rdssh writes no summary. */
  readonly killsSsh?: true;
  /** Matches an error of the tool or of rdssh when the host is lost. */
  readonly says: RegExp;
}

const USES: readonly Use[] = [
  {
    tool: 'rsync',
    transfer: 'rsync -a -e rdssh tree/ h1:$H1/t/',
    compare: 'diff -r tree $H1/t',
    says: /^rsync/m,
  },
  {
    tool: 'git',
    before: `export GIT_SSH_COMMAND=rdssh GIT_CONFIG_GLOBAL=$PWD/gitconfig
      git config --global user.name t; git config --global user.email t@t; git config --global init.defaultBranch main
      git init -q --bare $H1/t.git; git -C tree init -q; git -C tree add .; git -C tree commit -qm one`,
    transfer: 'git -C tree push -q h1:$H1/t.git main',
    compare: 'git clone -q $H1/t.git clone; diff -r -x .git tree clone',
    says: /^(fatal|error): /m,
  },
  {
    tool: 'borg',
    before: `export BORG_RSH=rdssh BORG_REPO=ssh://h1$H1/t BORG_BASE_DIR=$PWD/borg BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
      borg init -e none`,
    transfer: 'borg create -C none ::one tree',
    compare: 'mkdir out; cd out; borg extract ::one; diff -r ../tree tree',
    says: /Connection closed by remote host|Remote:/,
  },
  {
    tool: 'restic',
    before: `export RESTIC_PASSWORD=x RESTIC_CACHE_DIR=$PWD/cache RESTIC_REPOSITORY=sftp:h1:$H1/t
      on() { restic -q -o sftp.command='rdssh h1 -s sftp' "$@"; }; on init`,
    transfer: 'on backup tree',
    compare: 'on restore latest --target out; diff -r tree out/tree',
    says: /sftp|subprocess|connection lost|unable to/i,
  },
  {
    tool: 'sftp',
    transfer: `echo "put tree/big $H1/t" | sftp -S rdssh -b - h1 > listing`,
    compare: 'cmp tree/big $H1/t',
    killsSsh: true,
    // SIGPIPE ends it, as it does with ssh.
    says: /^rdssh: lost the connection to h1$/m,
  },
  {
    tool: 'scp',
    transfer: 'scp -q -S rdssh tree/big h1:$H1/t',
    compare: 'cmp tree/big $H1/t',
    killsSsh: true,
    says: /Connection closed|lost connection/i,
  },
];

describe('rdssh is the ssh of programs', function () {
  this.timeout(patience(LONGEST_MS));
  const lab = useLab({ longestMs: LONGEST_MS });
  /** In a nested describe(), because its hooks run before the lab checks for processes that are left. */
  describe('whose connection is lost', () => {
    before(function () {
      needsRoot(this);
      needsTool(this, 'ss');
    });
    afterEach(() => lab.endKeptConnections());

    for (const { tool, before: prepare = '', transfer, compare, killsSsh = false, says } of USES) {
      it(`${tool}: a broken connection resumes`, async function () {
        needsTool(this, tool);
        const running = start(`${transfer}\n${compare}`, prepare);
        const { ends } = await eventually(carrier);
        const killed = execaSync('ss', ['-HnK', 'state', 'established', 'src', ends.local, 'dst', ends.peer]);
        expect(killed.stdout).to.include(ends.peer);
        succeeded(await running.result, '');
        if (!killsSsh) expect(readFileSync(log(), 'utf8')).to.match(/reconnected once/);
      });

      it(`${tool}: it fails soon when the host is lost`, async function () {
        needsTool(this, tool);
        const running = start(transfer, prepare);
        await eventually(carrier);
        loseHost();
        const { status, stderr } = await running.result;
        expect(status, stderr).to.not.be.oneOf([0, null]);
        expect(stderr + readFileSync(log(), 'utf8')).to.match(says);
      });
    }
  });

  function start(script: string, prepare: string) {
    const { home } = lab.host('h1');
    const env = { H1: home, RDSSH_OPTIONS: `-v -E ${log()} ${LIMIT}` };
    return lab.start(`rm -rf ${home}/t ${home}/t.git\n${SOURCE}\n${prepare}\n${script}`, { env });
  }

  function log(): string {
    return join(lab.directory, 'rdssh.log');
  }

  /** The connection that has carried more than a MiB from this machine. */
  function carrier() {
    const pids = new Set(lab.processes('rdsend').map(({ pid }) => pid));
    const lines = execaSync('ss', ['-OHtnpi', 'state', 'established'], { lines: true }).stdout;
    for (const line of lines) {
      const [, local = '', peer = ''] = /^\d+ +\d+ +(\S+) +(\S+) /.exec(line) ?? [];
      const pid = Number(/pid=(\d+)/.exec(line)?.[1]);
      const sent = Number(/bytes_sent:(\d+)/.exec(line)?.[1] ?? 0);
      if (pids.has(pid) && sent > MIB) return { ends: { local, peer } };
    }
    throw new Error('no connection has carried a MiB');
  }

  /** Ends everything on h1 at once but its ssh server, as a restart of the host would. */
  function loseHost(): void {
    const { home, pid: server } = lab.host('h1');
    const there = () => lab.processes().filter((each) => each.home === home);
    const pids = [...childrenOf(server), ...there().map(({ pid }) => pid)];
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) signalProcess(pid, signal);
    for (const { pid } of there()) signalProcess(pid, 'SIGKILL');
  }
});
