// SPDX-License-Identifier: Apache-2.0
// Runs cases on this machine's loopback, and counts the processor time of every process that has a part in them.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ROOT } from '../../support/root.ts';
import { output } from '../../support/shell-out.ts';
import { type SshHosts, startSshHosts } from '../../support/sshd.ts';
import { type Case, GIB, type Part } from '../case.ts';
import type { Figures } from '../figures.ts';
import { readingHere, TICKS_A_SECOND, workBetween } from '../processors.ts';
import { program } from '../programs/programs.ts';
import type { Ground } from '../rounds.ts';
import { type Measured, type Running, startMeasured } from './measured.ts';

const LOOPBACK = '127.0.0.1';
const LISTENS_MS = 20_000;
const LISTEN = '0A';

export interface GroundOptions {
  /** Where the files are that runs read and write. */
  readonly parent: string;
  readonly hosts: number;
}

export class LoopbackGround implements Ground {
  readonly #folder: string;
  readonly #ssh: SshHosts;
  readonly #running = new Set<Running>();

  private constructor(folder: string, ssh: SshHosts) {
    this.#folder = folder;
    this.#ssh = ssh;
  }

  static async open({ parent, hosts }: GroundOptions): Promise<LoopbackGround> {
    const folder = mkdtempSync(join(parent, 'rdpipe-bench-'));
    mkdirSync(join(folder, 'homes'));
    writeFileSync(join(folder, 'key'), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    const names = Array.from({ length: hosts }, (_, index) => ({ name: `h${index + 1}` }));
    return new LoopbackGround(folder, await startSshHosts(join(folder, 'homes'), names));
  }

  async close(): Promise<void> {
    for (const running of this.#running) running.kill();
    await this.#ssh.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Makes the file that runs move, of bytes that nothing makes smaller, and reads it once. */
  prepare(mib: number): void {
    const source = join(this.#folder, 'source');
    output('sh', ['-c', `head -c ${mib}M /dev/urandom > '${source}'; sync '${source}'; cat '${source}' > /dev/null`]);
  }

  /** The rate is that of the whole run, unless the case knows better. */
  async runOnce({ parts, read, bytes, before, after }: Case): Promise<Figures> {
    const env = await this.#environment();
    if (before !== undefined) await this.#run(before, env);
    await this.#serversAreIdle();
    const [reading, serversS] = [readingHere(), this.#serversTime()];
    const measured = await this.#runParts(parts, env);
    await this.#serversAreIdle();
    const machine = workBetween(reading, readingHere());
    const figures = this.#figures(measured, this.#serversTime() - serversS, bytes);
    const said = read(measured.map((part) => part.said));
    if (after !== undefined) await this.#run(after, env);
    return { ...figures, others: othersShare(machine.userS + machine.sysS, figures), ...said };
  }

  /** Variables that the command lines use. */
  async #environment(): Promise<NodeJS.ProcessEnv> {
    return {
      ...process.env,
      PATH: `${join(ROOT, 'bin')}:${process.env.PATH}:/usr/sbin:/sbin`,
      LANG: 'C.UTF-8',
      PORT: String(await freePort(LOOPBACK)),
      DRAIN: program('drain'),
      KEY: join(this.#folder, 'key'),
      SOURCE: join(this.#folder, 'source'),
      TARGET: join(this.#folder, 'target'),
      SSH_CONFIG: this.#ssh.configFile,
    };
  }

  async #runParts(parts: readonly Part[], env: NodeJS.ProcessEnv): Promise<Measured[]> {
    const ends: Promise<Measured>[] = [];
    for (const { command, listens } of parts) {
      const ended = this.#run(command, env);
      ends.push(ended);
      // One that fails before it listens says why.
      if (listens !== undefined) await Promise.race([tcpListens(Number(env.PORT)), ended]);
    }
    return Promise.all(ends);
  }

  #run(command: string, env: NodeJS.ProcessEnv): Promise<Measured> {
    const running = startMeasured(command, env, this.#folder);
    this.#running.add(running);
    return running.ended.finally(() => this.#running.delete(running));
  }

  /** From the start of the last part, when all servers listened, to the end of everybody. */
  #figures(measured: readonly Measured[], serversS: number, bytes: number | undefined): Figures {
    const usages = measured.map(({ usage }) => usage);
    const wall_s = Math.max(...usages.map(({ endedS }) => endedS)) - (usages.at(-1)?.beganS ?? 0);
    const cpu_s = usages.reduce((sum, { userS, sysS }) => sum + userS + sysS, serversS);
    const max_rss_mib = Math.max(...usages.map(({ maxRssKib }) => maxRssKib)) / 1024;
    const moved = bytes === undefined ? {} : { mb_per_s: bytes / wall_s / 1e6, cpu_s_per_gib: (cpu_s * GIB) / bytes };
    return { wall_s, cpu_s, max_rss_mib, ...moved };
  }

  get #servers(): number[] {
    return [...this.#ssh.hosts.values()].map(({ pid }) => pid);
  }

  /** Sessions have ended, so that their time is counted in their server's. */
  async #serversAreIdle(): Promise<void> {
    await eventually(() => {
      const sessions = this.#servers.flatMap((pid) => childrenOf(pid));
      if (sessions.length > 0) throw new Error(`sessions of the ssh servers have not ended: ${sessions.join(' ')}`);
    });
  }

  /** Of the ssh servers and all their sessions that have ended. */
  #serversTime(): number {
    return this.#servers.reduce((sum, pid) => sum + timeOf(pid), 0);
  }
}

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** In seconds: its own, and that of its children whose end it has seen. */
function timeOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
}

/** What other processes had of this machine's processors meanwhile. */
function othersShare(workedS: number, { cpu_s = 0, wall_s = 0 }: Figures): number {
  return Math.max(0, workedS - cpu_s) / (wall_s * cpus().length);
}

async function tcpListens(port: number): Promise<void> {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const listener = new RegExp(`^ *\\d+: \\w+${end}\\w+:\\w+ ${LISTEN} `, 'm');
  await eventually(() => {
    const sockets = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/net/${name}`, 'utf8')).join('');
    if (!listener.test(sockets)) throw new Error(`nothing listens at port ${port}`);
  }, LISTENS_MS);
}
