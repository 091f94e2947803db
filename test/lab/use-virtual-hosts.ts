// SPDX-License-Identifier: Apache-2.0
// A fixture for tests of RDMA: a workplace in the network of virtual hosts h1, h2 and h3.
// The hosts start once per mocha process; each test restores their state.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { eventually } from '../support/eventually.ts';
import { inside } from '../support/namespaces.ts';
import { needs } from '../support/needs.ts';
import { COMMAND_MS, patience, TEST_MS } from '../support/patience.ts';
import { isRunning, signalProcess } from '../support/processes.ts';
import { Workplace } from '../support/workplace.ts';
import { DEFAULT_OPTIONS, nameOfOwnLab, type RunningLab, startLab, stopLab } from './hosts.ts';
import type { DebianRelease } from './kernel.ts';
import { type MachineOptions, machineIsReady, startMachine } from './machine.ts';
import { whatIsMissing } from './needs.ts';
import { setLink, tapOf } from './network.ts';
import { configFileIn, lastingSsh } from './ssh-files.ts';

export interface VirtualHostsOptions {
  /** Time limit of one command line, if the default is too short. */
  readonly longestMs?: number;
  /** The release of Debian whose kernel the hosts run. */
  readonly debian?: DebianRelease;
}

export interface Packets {
  readonly sent: number;
  readonly received: number;
}

const NAMES = ['h1', 'h2', 'h3'] as const;
export type HostName = (typeof NAMES)[number];

/** Includes the first download of a kernel. */
const START_MS = patience(900_000);

const started = new Map<DebianRelease, Promise<RunningLab>>();
after(() => {
  for (const debian of started.keys()) stopLab(nameOfOwnLab(debian));
});

function labOf(debian: DebianRelease): Promise<RunningLab> {
  const running =
    started.get(debian) ??
    startLab(nameOfOwnLab(debian), DEFAULT_OPTIONS, (line) => console.error(`      ${line}`), debian);
  started.set(debian, running);
  return running;
}

export function useVirtualHosts(options: VirtualHostsOptions = {}): VirtualLab {
  const longestMs = options.longestMs === undefined ? COMMAND_MS : patience(options.longestMs);
  const lab = new VirtualLab(longestMs);
  before(async function () {
    needs(this, whatIsMissing());
    this.timeout(START_MS);
    lab.open(await labOf(options.debian ?? 'own'));
  });
  beforeEach(function () {
    this.currentTest?.timeout(longestMs + TEST_MS);
    lab.beginTest();
  });
  afterEach(() => lab.expectNothingLeft());
  after(() => lab.close());
  return lab;
}

/** In its command lines, `on HOST COMMAND` runs a command on a host. */
export class VirtualLab extends Workplace {
  #lab: RunningLab | undefined;

  open(lab: RunningLab): void {
    this.#lab = lab;
    this.openDirectories(inside(lab.place.namespace));
    const config = configFileIn(lab.place.directory);
    this.knowHosts(config);
    this.#allowSlowHosts();
    this.addProgram('on', `exec ssh -F '${config}' "$@"`);
  }

  close(): void {
    this.removeDirectories();
  }

  /** RDMA gets a quarter of this time before TCP is also tried, and the emulated hosts may be slow. */
  #allowSlowHosts(): void {
    const directory = join(this.homes, '.config', 'rdpipe');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'config.toml'), '[defaults]\nconnect-timeout = 240\n');
  }

  /** Runs a command as root on a host and returns its output; rejects unless its status is 0. */
  async on(host: HostName, command: string, withinMs = COMMAND_MS): Promise<string> {
    const { stdout } = await this.#ssh(['-T', host, command], withinMs);
    return stdout;
  }

  /** Command lines of the processes on a host, without those of the idle host. */
  async processesOn(host: HostName): Promise<string[]> {
    const list = await this.on(host, 'ps -e -o ppid=,args= --width 200');
    return list
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !OWN_PROCESSES.test(line))
      .map((line) => line.replace(/^\d+ /, ''));
  }

  /** Packets of an RDMA device of the host since it was created. */
  async packets(host: HostName, device = 'rxe0'): Promise<Packets> {
    const counters = `/sys/class/infiniband/${device}/ports/1/hw_counters`;
    const [sent, received] = (await this.on(host, `cat ${counters}/sent_pkts ${counters}/rcvd_pkts`)).split('\n');
    return { sent: Number(sent), received: Number(received) };
  }

  setCable(host: HostName, state: 'up' | 'down'): void {
    setLink(this.#running.place.namespace, tapOf(numberOf(host)), state);
  }

  async killHost(host: HostName): Promise<void> {
    const pid = this.#pidOf(host);
    signalProcess(pid, 'SIGKILL');
    await eventually(() => expect(isRunning(pid)).to.equal(false));
  }

  /** Restarts a host after killHost(); `others` override the lab's options. */
  async restartHost(host: HostName, others: Partial<MachineOptions> = {}): Promise<void> {
    await this.#ssh(['-O', 'exit', host]).catch(() => undefined);
    const { place, files, options } = this.#running;
    const pid = startMachine(place, numberOf(host), { ...options, ...others }, files);
    await machineIsReady(place, numberOf(host), pid);
    this.#running.machines[numberOf(host) - 1] = pid;
  }

  /** Checks this machine and every host. */
  override async expectNothingLeft(): Promise<void> {
    await super.expectNothingLeft();
    await Promise.all(NAMES.map((host) => this.#expectNothingOn(host)));
  }

  async #expectNothingOn(host: HostName): Promise<void> {
    await eventually(async () => expect(await this.processesOn(host), host).to.deep.equal([]));
  }

  /** Undoes a change after tests with a command; does nothing if the hosts do not run and tests were skipped. */
  async restore(host: HostName, command: string): Promise<void> {
    if (this.#lab !== undefined) await this.on(host, command);
  }

  async #ssh(words: readonly string[], withinMs = COMMAND_MS): Promise<{ readonly stdout: string }> {
    const { place } = this.#running;
    const [program = '', ...rest] = [...inside(place.namespace), ...lastingSsh(place), ...words];
    return execa(program, rest, { timeout: withinMs, stripFinalNewline: false });
  }

  get #running(): RunningLab {
    if (this.#lab === undefined) throw new Error('the virtual hosts do not run');
    return this.#lab;
  }

  #pidOf(host: HostName): number {
    return this.#running.machines[numberOf(host) - 1] ?? 0;
  }
}

/** Matches parent and command line of kernel threads, process 1 and its sleep, sshd, and the ps that lists them. */
const OWN_PROCESSES =
  /^(?:2 |0 \[kthreadd\]|0 \/bin\/bash \/run\/start|1 sleep infinity|\d+ sshd: |\d+ ps -e -o ppid=)/;

function numberOf(host: HostName): number {
  return NAMES.indexOf(host) + 1;
}
