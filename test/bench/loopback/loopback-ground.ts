// SPDX-License-Identifier: Apache-2.0
// Runs cases on this machine's loopback, and measures the processor time of all their processes.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { Rails } from '../../support/rails.ts';
import { ROOT } from '../../support/root.ts';
import { output } from '../../support/run-program.ts';
import { type SshHosts, startSshHosts } from '../../support/sshd.ts';
import { type Case, GIB, type Listening, type Part } from '../case.ts';
import type { Figures } from '../figures.ts';
import { readingHere, TICKS_A_SECOND, workBetween } from '../processors.ts';
import type { Ground } from '../rounds.ts';
import { CubicLoopback } from './congestion.ts';
import { type Measured, type Running, startMeasured, type Usage } from './measured.ts';
import { SlowLink } from './slow-link.ts';
import { SwitchedHosts } from './switched-hosts.ts';
import { placesOf, removeFreshDisk, treeCommands, writeFreshDisk } from './trees.ts';

/** Ports must be free on all addresses, because some tools listen on all of them. */
const EVERYWHERE = '0.0.0.0';
/** 9 MB of text, repeated: the repetitions are farther apart than the window of compression level 1. */
const TEXT = join(ROOT, 'node_modules/typescript/lib/typescript.js');
const LISTENS_MS = 20_000;
const LISTEN = '0A';

export interface GroundOptions {
  /** Directory for the files that runs read and write. */
  readonly parent: string;
  /** Number of ssh servers h1, h2 and so on. */
  readonly hosts: number;
  readonly slowLink: boolean;
  readonly switchedHosts: boolean;
  /** Whether to connect two namespaces by two networks. */
  readonly rails: boolean;
  /** Whether to create trees, and a disk to which they are copied. */
  readonly copies: boolean;
  /** Whether cases can run with cubic. */
  readonly cubic: boolean;
  /** Directory of rdpipe and rdcp. */
  readonly bin: string;
}

/** Networks that the tables need. */
interface Networks {
  link?: SlowLink;
  switched?: SwitchedHosts;
  rails?: Rails;
  cubic?: CubicLoopback;
}

export class LoopbackGround implements Ground {
  /** Removed when the ground is closed. */
  readonly directory: string;
  readonly #bin: string;
  readonly #ssh: SshHosts;
  readonly #networks: Readonly<Networks>;
  readonly #copies: boolean;
  readonly #running = new Set<Running>();

  private constructor(
    directory: string,
    ssh: SshHosts,
    { copies, bin }: Pick<GroundOptions, 'copies' | 'bin'>,
    networks: Readonly<Networks>,
  ) {
    this.directory = directory;
    this.#bin = bin;
    this.#copies = copies;
    this.#ssh = ssh;
    this.#networks = networks;
  }

  static async open(options: GroundOptions): Promise<LoopbackGround> {
    const { parent, hosts, slowLink, switchedHosts, rails, cubic } = options;
    const directory = mkdtempSync(join(parent, 'rdpipe-bench-'));
    for (const part of ['homes', 'cubic']) mkdirSync(join(directory, part));
    writeFileSync(join(directory, 'key'), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    const names = Array.from({ length: hosts }, (_, index) => ({
      name: `h${index + 1}`,
      defaultKeyExchange: true,
    }));
    const networks: Networks = {};
    try {
      if (slowLink) networks.link = await SlowLink.open();
      if (switchedHosts) networks.switched = await SwitchedHosts.open(join(directory, 'switched'));
      if (rails) networks.rails = Rails.open();
      if (cubic) networks.cubic = await CubicLoopback.open(join(directory, 'cubic'));
      const ssh = await startSshHosts(join(directory, 'homes'), names);
      return new LoopbackGround(directory, ssh, options, networks);
    } catch (error) {
      await closeAll(networks);
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const running of this.#running) running.kill();
    await this.#ssh.close();
    await closeAll(this.#networks);
    removeFreshDisk(this.directory);
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Creates the files that runs move and reads them once: random bytes, text and compressed text. */
  async prepare(mib: number): Promise<void> {
    const words = `while cat '${TEXT}'; do :; done 2> /dev/null | head -c ${mib}M`;
    const commands = [
      `head -c ${mib}M /dev/urandom > "$SOURCE"`,
      `(${words}) > "$TEXT" || test -s "$TEXT"`,
      'zstd -q -f -1 "$TEXT" -o "$TEXT.zst"',
      'sync "$SOURCE" "$TEXT" "$TEXT.zst"',
      'cat "$SOURCE" "$TEXT" "$TEXT.zst" > /dev/null',
    ];
    await this.#run(commands.join('\n'), await this.#environment());
    if (!this.#copies) return;
    writeFreshDisk(this.directory, mib);
    await this.#run(treeCommands(mib).join('\n'), await this.#environment());
  }

  /** The rate is that of the whole run, unless the case reads another one from its output. */
  async runOnce({ parts, read, bytes, before, after, congestion, path, linkMbit }: Case): Promise<Figures> {
    const env = await this.#environment(congestion);
    this.#networks.link?.setCongestionControl(congestion);
    await this.#networks.link?.setPath(path);
    this.#networks.switched?.setRate(linkMbit);
    this.#networks.rails?.setRate(linkMbit);
    if (before !== undefined) await this.#run(before, env);
    await this.#serversAreIdle();
    const [reading, serversS, began] = [readingHere(), this.#serversTime(), performance.now()];
    const measured = await this.#runParts(parts, env, this.#through(congestion));
    await this.#serversAreIdle();
    const machine = workBetween(reading, readingHere());
    const elapsedS = (performance.now() - began) / 1000;
    const figures = this.#figures(measured, this.#serversTime() - serversS, bytes);
    const beganS = measured.at(-1)?.usage.beganS;
    const said = read(
      measured.map((part) => part.said),
      beganS,
    );
    if (after !== undefined) await this.#run(after, env);
    return { ...figures, others: othersShare(machine.userS + machine.sysS, figures.cpu_s ?? 0, elapsedS), ...said };
  }

  /** Variables for the command lines. */
  async #environment(congestion?: string): Promise<NodeJS.ProcessEnv> {
    const { link, switched, rails, cubic } = this.#networks;
    const ssh = (congestion === undefined ? undefined : cubic?.ssh) ?? this.#ssh;
    return {
      ...process.env,
      PATH: `${this.#bin}:${process.env.PATH}:/usr/sbin:/sbin`,
      LANG: 'C.UTF-8',
      PORT: String(await freePort(EVERYWHERE)),
      NEAR: String(await freePort(EVERYWHERE)),
      KEY: join(this.directory, 'key'),
      SOURCE: join(this.directory, 'source'),
      MARK: join(this.directory, 'mark'),
      TEXT: join(this.directory, 'text'),
      TARGET: join(this.directory, 'target'),
      SSH_CONFIG: ssh.configFile,
      ...placesOf(this.directory),
      OUTPUTS: join(this.directory, 'outputs'),
      STREAM: join(this.directory, 'stream'),
      ...link?.environment,
      ...switched?.environment,
      ...(rails && { RAILS_SENDER: rails.sender.join(' '), RAILS_RECEIVER: rails.receiver.join(' ') }),
    };
  }

  /** Prefix of the command lines of a case. */
  #through(congestion: string | undefined): readonly string[] {
    return congestion === undefined ? [] : (this.#networks.cubic?.through ?? []);
  }

  async #runParts(parts: readonly Part[], env: NodeJS.ProcessEnv, through: readonly string[]): Promise<Measured[]> {
    const ends: Promise<Measured>[] = [];
    for (const { command, listens } of parts) {
      const ended = this.#run(command, env, through);
      ends.push(ended);
      // A part that fails before it listens rejects with the reason.
      if (listens !== undefined) await Promise.race([this.#listens(Number(env.PORT), listens, env, through), ended]);
    }
    return Promise.all(ends);
  }

  async #listens(
    port: number,
    { through: inside = '' }: Listening,
    env: NodeJS.ProcessEnv,
    outside: readonly string[],
  ): Promise<void> {
    const through = inside === '' ? outside.join(' ') : inside;
    await eventually(() => {
      const sockets = output('bash', ['-c', `${through} cat /proc/net/tcp /proc/net/tcp6`], '', env).toString();
      if (!isListening(port, sockets)) throw new Error(`nothing listens at port ${port}`);
    }, LISTENS_MS);
  }

  #run(command: string, env: NodeJS.ProcessEnv, through: readonly string[] = []): Promise<Measured> {
    const running = startMeasured(command, env, this.directory, through);
    this.#running.add(running);
    return running.ended.finally(() => this.#running.delete(running));
  }

  /** Measures from the start of the last part, when all servers listened, to the end of all parts. */
  #figures(measured: readonly Measured[], serversS: number, bytes: number | undefined): Figures {
    const usages = measured.map(({ usage }) => usage);
    const wall_s = Math.max(...usages.map(({ endedS }) => endedS)) - (usages.at(-1)?.beganS ?? 0);
    const cpu_s = usages.reduce((sum, { userS, sysS }) => sum + userS + sysS, serversS);
    const max_rss_mib = Math.max(...usages.map(({ maxRssKib }) => maxRssKib)) / 1024;
    const all = { wall_s, cpu_s, max_rss_mib };
    return bytes === undefined ? all : { ...all, ...perByte(bytes, all, usages) };
  }

  get #servers(): number[] {
    const { switched, cubic } = this.#networks;
    return [this.#ssh, switched?.ssh, cubic?.ssh]
      .flatMap((ssh) => [...(ssh?.hosts.values() ?? [])])
      .map(({ pid }) => pid);
  }

  /** Waits until sessions have ended: their processor time is then part of their server's. */
  async #serversAreIdle(): Promise<void> {
    await eventually(() => {
      const sessions = this.#servers.flatMap((pid) => childrenOf(pid));
      if (sessions.length > 0) throw new Error(`sessions of the ssh servers have not ended: ${sessions.join(' ')}`);
    });
  }

  /** Processor time in seconds of the ssh servers and all their ended sessions. */
  #serversTime(): number {
    return this.#servers.reduce((sum, pid) => sum + timeOf(pid), 0);
  }
}

async function closeAll({ link, switched, rails, cubic }: Readonly<Networks>): Promise<void> {
  rails?.close();
  await cubic?.close();
  await switched?.close();
  await link?.close();
}

/** If a case has two ends, its first part is the receiver. */
function perByte(
  bytes: number,
  { wall_s, cpu_s }: { wall_s: number; cpu_s: number },
  usages: readonly Usage[],
): Figures {
  const [first, second] = usages;
  const perGib = (seconds: number) => (seconds * GIB) / bytes;
  const receiver =
    first === undefined || second === undefined ? {} : { receiver_s_per_gib: perGib(first.userS + first.sysS) };
  return { mb_per_s: bytes / wall_s / 1e6, cpu_s_per_gib: perGib(cpu_s), ...receiver };
}

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
}

/** Processor time of a process and its waited-for children, in seconds. */
function timeOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
}

/** The share of this machine's processor time that other processes used during the run. */
function othersShare(workedS: number, ownS: number, elapsedS: number): number {
  return Math.max(0, workedS - ownS) / (elapsedS * cpus().length);
}

function isListening(port: number, sockets: string): boolean {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return new RegExp(`^ *\\d+: \\w+${end} \\w+:\\w+ ${LISTEN} `, 'm').test(sockets);
}
