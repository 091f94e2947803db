// SPDX-License-Identifier: Apache-2.0
// One virtual host: qemu without acceleration, so that it behaves the same on every machine.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { inside } from '../support/namespaces.ts';
import { COMMAND_MS } from '../support/patience.ts';
import { isRunning } from '../support/processes.ts';
import { ROOT } from '../support/root.ts';
import { startProgram } from '../support/start-program.ts';
import { tapOf } from './network.ts';
import type { Place } from './place.ts';

export interface MachineOptions {
  readonly cpus: number;
  /** Number of NUMA nodes; with two, the network cards are on the second. */
  readonly nodes: 1 | 2;
  readonly memoryMib: number;
  readonly mtu: number;
  /** Number of hosts in the lab: each host knows the others' names. */
  readonly hosts: number;
  /** The host outlives this process; otherwise the kernel kills it when this process ends. */
  readonly lasting: boolean;
}

export interface BootFiles {
  readonly vmlinux: string;
  readonly initramfs: string;
}

/** The last line of guest/start. */
const READY = 'lab: ready';
// Disable erms and fsrm: with them, emulated string copies move single bytes, which halves the bandwidth.
const CPU = 'max,-erms,-fsrm';
const KERNEL_WORDS = 'console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off nokaslr random.trust_cpu=1';

/** Starts host h`number`; returns its pid. */
export function startMachine(place: Place, number: number, options: MachineOptions, files: BootFiles): number {
  rmSync(consoleOf(place, number), { force: true });
  const bound = options.lasting ? [] : ['setpriv', '--pdeathsig', 'KILL'];
  const logged = ['sh', '-c', 'errors=$1; shift; exec "$@" >"$errors" 2>&1', 'sh', errorsOf(place, number)];
  const command = [...bound, ...inside(place.namespace), ...logged, ...qemu(place, number, options, files)];
  const { child, pid } = startProgram(command, { detached: true, stdio: 'ignore' });
  child.unref();
  return pid;
}

/** Resolves when the host accepts ssh connections. */
export async function machineIsReady(place: Place, number: number, pid: number): Promise<void> {
  await eventually(() => {
    const console = readText(consoleOf(place, number));
    if (console.includes(READY)) return;
    if (!isRunning(pid)) return;
    throw new Error(`h${number} is not ready: ${lastLines(console)}`);
  }, COMMAND_MS);
  if (!isRunning(pid)) throw new Error(`h${number} has ended: ${lastLines(readText(errorsOf(place, number)))}`);
}

/** Messages of the host's kernel since it was ready; empty unless something failed. */
export function complaintsOf(place: Place, number: number): string {
  return readText(consoleOf(place, number)).split(READY)[1]?.trim() ?? '';
}

function qemu(place: Place, number: number, options: MachineOptions, { vmlinux, initramfs }: BootFiles): string[] {
  const settings = { number, hosts: options.hosts, mtu: options.mtu, checkout: ROOT };
  const labWords = Object.entries(settings).map(([name, value]) => `lab.${name}=${value}`);
  const hardware = `-M q35 -accel tcg,thread=multi,tb-size=256 -cpu ${CPU} -smp ${options.cpus} -m ${options.memoryMib}`;
  return [
    ...['qemu-system-x86_64', '-name', `h${number}`, ...hardware.split(' ')],
    ...(options.nodes === 2 ? twoNodes(options) : []),
    ...['-nodefaults', '-no-user-config', '-nographic', '-no-reboot', '-serial', `file:${consoleOf(place, number)}`],
    ...['-kernel', vmlinux, '-initrd', initramfs, '-append', [KERNEL_WORDS, ...labWords].join(' ')],
    ...directory('root', '/'),
    ...directory('checkout', ROOT),
    ...([0, 1] as const).flatMap((network) => networkCard(number, network, options)),
    ...['-device', 'virtio-rng-pci,bus=pcie.0'],
  ];
}

/** Options that share a directory with the host read-only. */
function directory(name: string, path: string): string[] {
  const source = `local,id=${name},path=${path.replaceAll(',', ',,')},security_model=none,readonly=on,multidevs=remap`;
  return ['-fsdev', source, '-device', `virtio-9p-pci,bus=pcie.0,fsdev=${name},mount_tag=${name}`];
}

/** Options for two nodes with half of the processors and memory each, and a bus on the second one. */
function twoNodes({ cpus, memoryMib }: MachineOptions): string[] {
  const half = Math.ceil(cpus / 2);
  const nodes = [
    { node: 0, processors: [0, half - 1] },
    { node: 1, processors: [half, cpus - 1] },
  ];
  return [
    ...nodes.flatMap(({ node, processors }) => [
      ...['-object', `memory-backend-ram,id=memory${node},size=${memoryMib / 2}M`],
      ...['-numa', `node,nodeid=${node},cpus=${processors.join('-')},memdev=memory${node}`],
    ]),
    ...['-device', 'pxb-pcie,id=second,bus_nr=128,bus=pcie.0,numa_node=1'],
  ];
}

function networkCard(number: number, network: 0 | 1, { mtu, nodes }: MachineOptions): string[] {
  const mac = `52:54:00:77:0${network}:${number.toString(16).padStart(2, '0')}`;
  const id = `net${network}`;
  const bus = nodes === 2 ? `port${network}` : 'pcie.0';
  const port = `pcie-root-port,id=port${network},bus=second,chassis=${network + 1},slot=${network}`;
  return [
    ...(nodes === 2 ? ['-device', port] : []),
    ...['-netdev', `tap,id=${id},ifname=${tapOf(number, network)},script=no,downscript=no`],
    ...['-device', `virtio-net-pci,netdev=${id},mac=${mac},host_mtu=${mtu},romfile=,bus=${bus}`],
  ];
}

function consoleOf(place: Place, number: number): string {
  return join(place.directory, `h${number}.console`);
}

function errorsOf(place: Place, number: number): string {
  return join(place.directory, `h${number}.errors`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-5).join(' | ');
}
