// SPDX-License-Identifier: Apache-2.0
// Hosts with low process limits: the run succeeds completely,
// or fails with one line that names the host.
import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsRoot } from '../support/needs.ts';
import { failed, type Result, succeeded } from '../support/shell.ts';
import type { HostSpec } from '../support/sshd.ts';

/** A limit on the sessions of one host, set by these bash commands. */
interface Limit {
  readonly host: string;
  readonly set: string;
  /** Expected reason of the failure; absent: the run succeeds; null: either. */
  readonly why?: RegExp | null;
}

interface Part {
  readonly name: string;
  /** `target`: a file on the host to which the bytes may be written. */
  words(host: string, target: string): string;
  /** Returns the number of bytes that arrived. */
  arrived(result: Result, target: string): number;
}

export interface LimitCell {
  readonly limit: Limit;
  readonly part: Part;
}

const BYTES = 20 * 1024 * 1024;
const PRODUCER = `head -c ${BYTES} /dev/zero`;
const TOO_MANY_FILES = /too many open files \(ulimit -n raises the limit\)/;
/** Users who have no other processes, so that only those of a test count. */
const FIRST_USER = 54_000;
const USERS = 100;

const PARTS: readonly Part[] = [
  { name: 'reads', words: (host) => `h1:'${PRODUCER}' ${host}:'wc -c'`, arrived: ({ text }) => Number(text) },
  { name: 'sends', words: (host) => `${host}:'${PRODUCER}' h2:'wc -c'`, arrived: ({ text }) => Number(text) },
  {
    name: 'writes a file',
    words: (host, target) => `h1:'${PRODUCER}' ${host}:'> ${target}'`,
    arrived: (_, target) => (existsSync(target) ? statSync(target).size : 0),
  },
];

const LIMITS: readonly Limit[] = [
  { host: 'may-open-12', set: 'ulimit -n 12', why: TOO_MANY_FILES },
  { host: 'may-open-24', set: 'ulimit -n 24' },
  ...between(6, 22, 2).map((files) => ({ host: `opens-${files}`, set: `ulimit -n ${files}`, why: null })),
  { host: 'has-15-mb', set: 'ulimit -v 15000', why: /no memory for / },
  { host: 'has-60-mb', set: 'ulimit -v 60000' },
  ...between(5, 40, 3).map((mb) => ({ host: `has-${mb}mb`, set: `ulimit -v ${mb * 1000}`, why: null })),
  { host: 'may-lock-nothing', set: 'ulimit -l 0' },
  { host: 'may-fork-4', set: asUser(4), why: /fork|too many processes/i },
  { host: 'may-fork-40', set: asUser(40) },
  ...between(5, 30, 5).map((processes) => ({ host: `forks-${processes}`, set: asUser(processes), why: null })),
];

export const LIMIT_CELLS: readonly LimitCell[] = LIMITS.flatMap((limit) => PARTS.map((part) => ({ limit, part })));

export function describeLimits(cells: readonly LimitCell[]): void {
  describe('a host with limits', () => {
    const lab = useLab({ hosts: hostsOf(cells) });
    before(function () {
      needsRoot(this);
      chmodSync(dirname(lab.homes), 0o711); // other users have their homes there
    });
    // If a user may start too few processes for the agent in the home directory, rdpipe tries the last place, in
    // /var/tmp.
    after(() => {
      for (let user = FIRST_USER; user < FIRST_USER + USERS; user++)
        rmSync(`/var/tmp/rdpipe-${user}`, { recursive: true, force: true });
    });

    for (const { limit, part } of cells)
      it(`${limit.host} ${part.name}`, async () => {
        const target = `${lab.directory}/open/target`;
        const result = await lab.sh(`mkdir -m 777 open; exec rdpipe ${part.words(limit.host, target)}`);
        if (limit.why === undefined || (limit.why === null && result.status === 0)) {
          succeeded({ ...result, text: '' }, '');
          expect(part.arrived(result, target)).to.equal(BYTES);
          return;
        }
        failed(result, 125, limit.why ?? /./);
        expect(result.stderr).to.include(limit.host);
        expect(existsSync(target)).to.equal(false);
      });
  });
}

function hostsOf(cells: readonly LimitCell[]): HostSpec[] {
  const limits = new Map(cells.map(({ limit }) => [limit.host, limit]));
  return [...limits.values()].map(({ host, set }) => ({
    name: host,
    server: [`ForceCommand ${set}; eval "$SSH_ORIGINAL_COMMAND"`],
  }));
}

/** Runs sessions as another user: the limit does not apply to root. */
function asUser(processes: number): string {
  const user = FIRST_USER + processes;
  const become = `setpriv --reuid ${user} --regid ${user} --clear-groups`;
  const home = `HOME=$HOME/user; mkdir -p $HOME; chown ${user} $HOME`;
  return `${home}; ulimit -u ${processes}; exec ${become} sh -c "$SSH_ORIGINAL_COMMAND"`;
}

function between(first: number, last: number, step: number): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}
