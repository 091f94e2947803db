// SPDX-License-Identifier: Apache-2.0
// The cells of the kill matrix over RDMA: all stages run on virtual hosts.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { allCells, type Cell, type PHASES } from '../support/kill-matrix/cells.ts';
import { checkFailed, type Traces } from '../support/kill-matrix/checks.ts';
import { hostsOf, type Shape, slowStageOf } from '../support/kill-matrix/shapes.ts';
import {
  bodyOf,
  courseOf,
  HEAD,
  LAST,
  OLD_CONTENT,
  sourceBytes,
  sourceWaits,
  stageWords,
} from '../support/kill-matrix/stream.ts';
import { type AgentRole, ofAgent } from '../support/kill-matrix/targets.ts';
import type { Running } from '../support/shell.ts';
import type { HostName, VirtualLab } from './use-virtual-hosts.ts';

const DIRECTORY = '/tmp/cell';
const LIMITS = '--lease 20 --stall-timeout 6 --connect-timeout 60 --stderr off';
const KNOWN_FILES = /^(?:gate|source|feeder|target|(?:started|seen|waiting|committed)\.\d)$/;

const PHASES_HERE: readonly (typeof PHASES)[number][] = ['idle', 'flowing', 'blocked'];
const ROLES: readonly AgentRole[] = ['guardian', 'supervisor', 'rdsend', 'rdrecv'];

/** A cell that kills a process of an agent, or a program of a hop. */
export type RdmaCell = Cell & { readonly target: { readonly role: AgentRole; readonly host: HostName } };

export function rdmaCells(): RdmaCell[] {
  return allCells().filter(isOverRdma);
}

/** Runs the cell and removes its files from the hosts. Remaining processes are checked after each test. */
export async function runRdmaCell(lab: VirtualLab, cell: RdmaCell): Promise<void> {
  const hosts = hostsOf(cell.shape) as HostName[];
  for (const host of hosts) await lab.on(host, preparation(cell));
  const feeder = sourceWaits(cell) ? startSource(lab, cell) : undefined;
  try {
    const running = lab.start(`exec rdpipe ${LIMITS} --transport rdma ${stageWords(cell, DIRECTORY)} > /dev/null`);
    await reachPhase(lab, cell, running);
    await kill(lab, cell);
    const result = await running.result;
    await feeder?.end();
    await lab.expectNothingLeft();
    const traces = await tracesOn(lab, cell);
    await checkFailed(traces, cell, result);
    expect((await traces.list()).filter((name) => !KNOWN_FILES.test(name))).to.deep.equal([]);
  } finally {
    await feeder?.end();
    for (const host of hosts) await lab.on(host, `rm -rf ${DIRECTORY}`);
  }
}

function isOverRdma(cell: Cell): cell is RdmaCell {
  const { session, shape, phase, target } = cell;
  const isBetweenHosts = !shape.stdin && !shape.stdout && shape.stages.every(({ host }) => host !== '');
  const isOfAgent = ROLES.some((role) => role === target.role);
  return session === 'openssh' && isBetweenHosts && isOfAgent && PHASES_HERE.includes(phase);
}

/** The bash command line that prepares each host. */
function preparation(cell: Cell): string {
  const { bodyBytes } = courseOf(cell);
  const source = sourceWaits(cell)
    ? 'mkfifo source'
    : `{ printf '${printed(HEAD)}'; ${bodyOf(bodyBytes)}; printf '${printed(LAST)}'; } > source`;
  return `rm -rf ${DIRECTORY} && mkdir ${DIRECTORY} && cd ${DIRECTORY} && mkfifo gate && printf '${printed(OLD_CONTENT)}' > target && ${source}`;
}

function printed(text: string): string {
  return text.replaceAll('\n', '\\n');
}

interface Feeder {
  /** Idempotent. */
  end(): Promise<void>;
}

/** Keeps the source, a fifo, open, and writes the bytes before its gate. */
function startSource(lab: VirtualLab, cell: Cell): Feeder {
  const script = `cd ${DIRECTORY}; echo $$ > feeder; exec 3<> source; exec cat >&3`;
  const running = lab.start(`exec on h1 '${script}'`, { stdin: 'open' });
  running.write(sourceBytes(cell).toString('latin1'));
  let ended: Promise<unknown> | undefined;
  return {
    async end() {
      ended ??= lab.on('h1', `kill $(cat ${DIRECTORY}/feeder)`).then(() => running.result);
      await ended;
    },
  };
}

async function reachPhase(lab: VirtualLab, cell: Cell, running: Running): Promise<void> {
  const endedEarly = running.result.then(({ status, stderr }) => {
    throw new Error(`the run ended before its phase, with ${status}: ${stderr}`);
  });
  await Promise.race([eventually(() => isReached(lab, cell)), endedEarly]);
}

async function isReached(lab: VirtualLab, { phase, shape }: Cell): Promise<void> {
  const last = shape.stages.length;
  const host = hostOf(shape, last);
  if (phase === 'blocked') {
    const slow = slowStageOf(shape) ?? last;
    await lab.on(hostOf(shape, slow), `test -e ${DIRECTORY}/waiting.${slow}`);
  } else if (shape.stages.at(-1)?.kind === 'sink') {
    const sizes = await lab.on(host, 'for pid in $(pgrep -x rdrecv); do stat -Lc "%F %s" /proc/$pid/fd/*; done; true');
    const bytes = [...sizes.matchAll(/^regular (?:empty )?file (\d+)$/gm)].map(([, size]) => Number(size));
    expect(Math.max(0, ...bytes)).to.be.at.least(HEAD.length);
  } else {
    expect(await lab.on(host, `head -c ${HEAD.length} ${DIRECTORY}/seen.${last}`)).to.equal(HEAD);
  }
}

async function kill(lab: VirtualLab, { target: { role, host }, signal }: RdmaCell): Promise<void> {
  const list = await lab.on(host, 'ps -e -o pid=,ppid=,args= ww');
  const rows = list.split('\n').map((row) => row.trim().split(/ +/));
  const processes = rows.map(([pid, parent, ...words]) => ({
    pid: Number(pid),
    parent: Number(parent),
    program: (words[0] ?? '').replace(/^.*\//, ''),
    command: words.join(' '),
  }));
  const [found] = ofAgent(processes, role);
  if (found === undefined) throw new Error(`no ${role} on ${host}`);
  await lab.on(host, `kill -${signal.replace('SIG', '')} ${found.pid}`);
}

/** Reads the stages' files on their hosts; of long files only the beginning and the end. */
async function tracesOn(lab: VirtualLab, { shape }: Cell): Promise<Traces> {
  const hosts = hostsOf(shape) as HostName[];
  return {
    processes: () => lab.processes(),
    async list() {
      const lists = await Promise.all(hosts.map((host) => lab.on(host, `ls -A ${DIRECTORY}`)));
      return lists.flatMap((names) => names.trim().split('\n'));
    },
    async read(name) {
      const stage = Number(/\d+$/.exec(name)?.[0] ?? shape.stages.length);
      const file = `${DIRECTORY}/${name}`;
      const long = `{ head -c 4096 ${file}; tail -c 4096 ${file}; }`;
      return Buffer.from(
        await lab.on(
          hostOf(shape, stage),
          `if test $(stat -c %s ${file}) -gt 8192; then ${long}; else cat ${file}; fi`,
        ),
      );
    },
  };
}

function hostOf({ stages }: Shape, stage: number): HostName {
  const host = stages[stage - 1]?.host;
  if (host === undefined || host === '') throw new Error(`stage ${stage} is on no host`);
  return host;
}
