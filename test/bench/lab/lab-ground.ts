// SPDX-License-Identifier: Apache-2.0
// Runs cases on the lab's virtual hosts, and measures the usage of their processors.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_OPTIONS, labsThatAreUp, nameOfOwnLab, startLab, stopLab } from '../../lab/hosts.ts';
import { complaintsOf } from '../../lab/machine.ts';
import { joinSecondNetwork } from '../../lab/second-network.ts';
import { configFileIn } from '../../lab/ssh-files.ts';
import type { Build } from '../by-hand.ts';
import { type Case, HOSTS, type Host, type Part, type Said } from '../case.ts';
import type { Figures } from '../figures.ts';
import {
  FORGET_NOTES,
  NOTE_AFTER,
  NOTE_BEFORE,
  readingHere,
  TELL_NOTES,
  type Work,
  workBetween,
} from '../processors.ts';
import type { Ground } from '../rounds.ts';
import { BenchHosts } from './bench-hosts.ts';
import { HOP_KEY, SOURCE, SSH_KEY, TARGET } from './files.ts';
import type { Setup } from './setup.ts';

const TRIPS_A_MIB = 8;

export class LabGround implements Ground {
  readonly #say: (line: string) => void;
  #hosts: BenchHosts;
  #mib = 0;
  #mbit: number | undefined;

  private constructor(hosts: BenchHosts, say: (line: string) => void) {
    this.#hosts = hosts;
    this.#say = say;
  }

  static async open(say: (line: string) => void): Promise<LabGround> {
    const others = labsThatAreUp();
    if (others.length > 0) say(`another lab is up (${others.join(', ')}): the figures will be worth little`);
    return new LabGround(await startHosts(say), say);
  }

  /** Stops the lab and prints errors of the hosts' kernels, which may be the cause of a failure. */
  close(): void {
    for (const line of this.#complaints()) this.#say(line);
    stopLab(nameOfOwnLab());
  }

  /** Creates the file that runs move. Builds must not be in /tmp or a home: the hosts have their own ones. */
  async prepare(mib: number, builds: readonly Build[]): Promise<Setup> {
    this.#mib = mib;
    await this.#makeSource();
    await Promise.all(builds.map(({ programs }) => this.#onEach(`ls ${programs}/rdsend ${programs}/rdrecv`)));
    return { mib, trips: TRIPS_A_MIB * mib, builds, sshConfig: configFileIn(this.#hosts.place.directory) };
  }

  /** Starts new hosts: emulated kernels with soft-RoCE can crash or hang under load. */
  readonly renew = async (): Promise<void> => {
    this.close();
    this.#hosts = await startHosts(this.#say);
    this.#mbit = undefined;
    await this.#makeSource();
  };

  async runOnce({ parts, read, watched, linkMbit }: Case): Promise<Figures> {
    await this.#setRate(linkMbit);
    const allAlong = watched === 'all along';
    await this.#onEach(`rm -f ${TARGET}; ${allAlong ? NOTE_BEFORE : FORGET_NOTES}`);
    const before = readingHere();
    const said = await this.#runParts(parts);
    const here = workBetween(before, readingHere());
    if (allAlong) await this.#onEach(NOTE_AFTER);
    const works = (await this.#onEach(TELL_NOTES)).map(workIn);
    return { ...read(said), ...figuresOf(works), busy_here: here.busy };
  }

  /** Limits what each host sends over each of two networks; undefined: over the first one, without a limit. */
  async #setRate(mbit: number | undefined): Promise<void> {
    if (mbit === this.#mbit) return;
    if (this.#mbit === undefined)
      await Promise.all(HOSTS.map((host) => this.#hosts.run(host, joinSecondNetwork(host))));
    this.#mbit = mbit;
    const limit = (device: string) => `tc qdisc replace dev ${device} root netem rate ${mbit}mbit limit 10000`;
    const leave = 'tc qdisc delete dev eth0 root; rdma link delete rxe1; ip address flush dev eth1';
    await this.#onEach(mbit === undefined ? leave : `${limit('eth0')}; ${limit('eth1')}`);
  }

  #makeSource(): Promise<string> {
    return this.#hosts.run('h1', `head -c ${this.#mib}M /dev/urandom > ${SOURCE}`);
  }

  #complaints(): string[] {
    const complaints = HOSTS.map((host, index) => [host, complaintsOf(this.#hosts.place, index + 1)] as const);
    return complaints.filter(([, words]) => words !== '').map(([host, words]) => `${host}'s kernel says: ${words}`);
  }

  /** Returns the outputs of all parts; rejects if one fails. */
  async #runParts(parts: readonly Part[]): Promise<Said> {
    const ends: Promise<string>[] = [];
    for (const { on, command, listens } of parts) {
      const ended = this.#hosts.run(on, command);
      ends.push(ended);
      // A part that fails before it listens rejects with the reason.
      if (listens !== undefined && on !== 'here') await Promise.race([this.#hosts.listens(on, listens), ended]);
    }
    return Promise.all(ends);
  }

  #onEach(command: string): Promise<string[]> {
    return Promise.all(HOSTS.map((host) => this.#hosts.run(host, command)));
  }
}

async function startHosts(say: (line: string) => void): Promise<BenchHosts> {
  const { place } = await startLab(nameOfOwnLab(), DEFAULT_OPTIONS, say);
  const hosts = new BenchHosts(place);
  await bringKeys(hosts);
  return hosts;
}

/** Copies the key for hops without rdpipe to all hosts, and to h1 the ssh key with which rsync logs in to h2. */
async function bringKeys(hosts: BenchHosts): Promise<void> {
  const hopKey = randomBytes(32).toString('hex');
  await Promise.all(HOSTS.map((host) => hosts.run(host, `umask 77; cat > ${HOP_KEY}`, `${hopKey}\n`)));
  const sshKey = readFileSync(join(hosts.place.directory, 'key'), 'utf8');
  await hosts.run('h1', `umask 77; cat > ${SSH_KEY}`, sshKey);
}

/** Returns undefined if the host took no part in the run. */
function workIn(notes: string): Work | undefined {
  const [before, after] = notes.trimEnd().split('\n');
  return before && after ? workBetween(before, after) : undefined;
}

function figuresOf(works: readonly (Work | undefined)[]): Figures {
  const busy = works.flatMap((work, index) => (work === undefined ? [] : [[busyOf(HOSTS[index] ?? 'h1'), work.busy]]));
  const sum = (share: 'userS' | 'sysS') => works.reduce((total, work) => total + (work?.[share] ?? 0), 0);
  const [user_s, sys_s] = [sum('userS'), sum('sysS')];
  return { ...Object.fromEntries(busy), user_s, sys_s, cpu_s: user_s + sys_s };
}

function busyOf(host: Host): 'busy_h1' | 'busy_h2' | 'busy_h3' {
  return `busy_${host}`;
}
