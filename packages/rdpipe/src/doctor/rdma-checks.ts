/** Checks of a host's RDMA devices, libraries and memory limit. Pure. */

import type { Finding } from '../model/examination.ts';
import type { AgentHello, RdmaPort } from '../model/protocol.ts';
import { formatBytes, formatMbps } from '../model/units.ts';
import { type HostFacts, known, type Requirements } from './facts.ts';
import { fail, ok, warn, withoutRdma, withoutRdmaCard } from './finding.ts';

/** Checks devices, libraries and locked memory; no findings with --transport tcp or without an agent. */
export function checkRdma(facts: HostFacts, wanted: Requirements): readonly Finding[] {
  const hello = known(facts.hello);
  if (hello === undefined || wanted.transport === 'tcp') return [];
  if (hello.rdma.length === 0) return [withoutRdmaCard(wanted, 'no RDMA device', deviceFix(hello, facts.launcher))];
  const ports = hello.rdma.map((port) => checkPort(port, hello, wanted));
  return [...ports, ...checkLibraries(hello), checkMemlock(hello, wanted, facts.launcher)];
}

function deviceFix({ addresses }: AgentHello, launcher: string | undefined): string {
  if (launcher === 'podman' || launcher === 'docker')
    return `if the machine has a card: ${launcher} run --device /dev/infiniband --cap-add IPC_LOCK --ulimit memlock=-1:-1`;
  if (launcher === 'kubectl')
    return "if the node has a card: request an RDMA device plugin's resource in the pod, and add the capability IPC_LOCK";
  const name = addresses.find(({ kind, up }) => kind === 'physical' && up)?.interface ?? 'eth0';
  return (
    `load the driver of the card (check with rdma link and lspci); without a card, to try soft-RoCE, run ` +
    `modprobe rdma_rxe && rdma link add rxe0 type rxe netdev ${name}`
  );
}

function checkPort(port: RdmaPort, hello: AgentHello, wanted: Requirements): Finding {
  const check = `port ${nameOf(port)}`;
  const found = describePort(port);
  if (port.state !== 'active') return checkInactive(check, found, port, hello, wanted);
  const lack = lackOf(port, hello);
  if (lack !== undefined) {
    const isOnly = !hello.rdma.some((other) => other.state === 'active' && lackOf(other, hello) === undefined);
    const judge = isOnly ? fail : warn;
    return judge(check, `${found}, ${lack}`, `run ip addr add ADDRESS/PREFIX dev ${interfaceOf(port)}`);
  }
  if (port.link_layer === 'ethernet' && !port.gids.includes('RoCE v2')) {
    const fix = `run cma_roce_mode -d ${port.device} -p ${port.port} -m 2 to use RoCE v2, unless the card is iWARP`;
    return warn(check, `${found}: cannot be routed to another subnet`, fix);
  }
  return ok(check, found);
}

/** The missing part of an active port that an address on its interface would provide; undefined: none. */
function lackOf({ gids, interface: name }: RdmaPort, { addresses }: AgentHello): string | undefined {
  if (gids.length === 0) return 'no usable GID';
  return addresses.some((entry) => entry.interface === name && entry.up) ? undefined : 'no IP address on its interface';
}

/** An inactive port, such as a second one without a cable, is not a problem if another port is active. */
function checkInactive(check: string, found: string, port: RdmaPort, hello: AgentHello, wanted: Requirements): Finding {
  if (hello.rdma.some(({ state }) => state === 'active')) return ok(check, found);
  return withoutRdma(wanted, check, found, inactiveFix(port));
}

function inactiveFix(port: RdmaPort): string {
  if (port.link_layer === 'infiniband' && port.state !== 'down')
    return 'run systemctl start opensm to start a subnet manager';
  if (port.link_layer === 'infiniband') return 'connect its cable';
  return `run ip link set ${interfaceOf(port)} up, and check its cable`;
}

function describePort({ state, rate_mbps, link_layer, interface: name, gids, mtu, numa }: RdmaPort): string {
  const layer = link_layer === 'infiniband' ? 'InfiniBand' : 'Ethernet';
  return [
    state,
    ...(rate_mbps > 0 ? [formatMbps(rate_mbps)] : []),
    name === null ? layer : `${layer} ${name}`,
    ...(link_layer === 'ethernet' ? gids : []),
    ...(mtu === null ? [] : [`path MTU ${mtu}`]),
    ...(numa === null ? [] : [`NUMA node ${numa}`]),
  ].join(', ');
}

function nameOf({ device, port }: RdmaPort): string {
  return `${device}/${port}`;
}

function interfaceOf(port: RdmaPort): string {
  return port.interface ?? 'INTERFACE';
}

/** For messages that give no command. */
const USUAL_RDMA_FIX = 'run modprobe rdma_ucm, and update the RDMA libraries';

function checkLibraries({ rdma, rdma_lacks }: AgentHello): readonly Finding[] {
  if (!rdma.some(({ state }) => state === 'active')) return [];
  if (rdma_lacks === null) return [ok('rdma libraries', 'libibverbs and librdmacm work')];
  const { reason, advice } = splitAdvice(rdma_lacks);
  return [fail('rdma libraries', reason, advice === undefined ? USUAL_RDMA_FIX : `run ${advice}`)];
}

/** Splits a message of the host's own program, which knows the command of its system: `REASON (COMMAND)`. */
function splitAdvice(message: string): { readonly reason: string; readonly advice: string | undefined } {
  const [, reason, advice] = /^(.*) \((\w+ install .*)\)$/.exec(message) ?? [];
  return { reason: reason ?? message, advice };
}

/** The memory that a connection locks in addition to its window, and the minimum that it needs. */
const ASIDE_BYTES = 2 * 1024 * 1024;
const BYTES_MIN = 3 * 1024 * 1024;

function checkMemlock(
  { memlock, user }: AgentHello,
  { bufferBytes }: Requirements,
  launcher: string | undefined,
): Finding {
  if (memlock === null) return ok('memlock', 'unlimited');
  const enough = bufferBytes + ASIDE_BYTES;
  const found = `${formatBytes(memlock)} of memory can be locked (ulimit -l)`;
  if (memlock >= enough) return ok('memlock', found);
  const fix = memlockFix(user, launcher);
  if (memlock < BYTES_MIN) return fail('memlock', `${found}: too little for RDMA`, fix);
  return warn('memlock', `${found}: less than ${formatBytes(enough)}, so buffers are smaller`, fix);
}

/** A container keeps the limit of its start; a Slurm step has the limit of its slurmd or of the user's shell. */
function memlockFix(user: string, launcher: string | undefined): string {
  switch (launcher) {
    case 'podman':
    case 'docker':
      return `start the container with: ${launcher} run --cap-add IPC_LOCK --ulimit memlock=-1:-1`;
    case 'kubectl':
      return 'add IPC_LOCK to securityContext.capabilities.add of the pod, so that it can lock memory';
    case 'slurm':
      return 'set PropagateResourceLimitsExcept=MEMLOCK in slurm.conf and LimitMEMLOCK=infinity in the systemd unit of slurmd';
    default:
      return (
        `add '${user} - memlock unlimited' to /etc/security/limits.d/rdma.conf, then log in again; sshd sets limits at ` +
        `login (with UsePAM yes), and a shared ssh connection keeps the old ones`
      );
  }
}
