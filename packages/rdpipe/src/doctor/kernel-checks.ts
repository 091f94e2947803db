/** Checks of kernel settings that pipes and networks depend on. Pure. */
import { BlockList, isIPv4 } from 'node:net';
import type { Finding, Measurement } from '../model/examination.ts';
import { OPTIONS } from '../model/options.ts';
import type { HostAddress } from '../model/protocol.ts';
import { formatBytes, formatMbps } from '../model/units.ts';
import { type HostFacts, type InterfaceSettings, known, type SystemFacts } from './facts.ts';
import { ok, warn } from './finding.ts';

/** The size that rdstage requests. */
const PIPE_BYTES = 1024 * 1024;
const PAGE_BYTES = 4096;
/** The number of full-size pipes that a few pipelines need. */
const PIPES_MIN = 16;
const PERSIST = 'add it to a file in /etc/sysctl.d/ to make it permanent';

/** Checks the kernel's limits for pipes; no finding if they are unknown. */
export function checkPipes({ hello, system }: HostFacts): readonly Finding[] {
  const { pipeMostBytes = null, pipeUserPages = null } = known(system) ?? {};
  if (pipeMostBytes === null) return [];
  const most = `pipes of up to ${formatBytes(pipeMostBytes)}`;
  if (pipeMostBytes < PIPE_BYTES) {
    return [
      warn('pipes', `${most}: slow between programs`, `run sysctl -w fs.pipe-max-size=${PIPE_BYTES}, and ${PERSIST}`),
    ];
  }
  const isLimited = known(hello)?.uid !== 0 && pipeUserPages !== null && pipeUserPages > 0;
  if (isLimited && pipeUserPages < (PIPES_MIN * PIPE_BYTES) / PAGE_BYTES) {
    const found = `${most}, but ${formatBytes(pipeUserPages * PAGE_BYTES)} for all pipes of a user`;
    return [warn('pipes', found, `run sysctl -w fs.pipe-user-pages-soft=16384, and ${PERSIST}`)];
  }
  return [ok('pipes', most)];
}

/** The most connections of a hop. */
const STREAMS_MAX = Number(OPTIONS.streams.most);

/**
 * Checks whether the sender's kernel lets a hop over TCP have as many bytes in flight as the measured path holds.
 * `sendBufferBytes`: of the sending host; null: unknown.
 */
export function checkSendBuffer(
  { from, to, transport, rttUs, nominalMbps }: Measurement,
  sendBufferBytes: number | null,
): readonly Finding[] {
  if (transport !== 'tcp' || rttUs === null || nominalMbps === null || sendBufferBytes === null) return [];
  const neededBytes = (nominalMbps * rttUs) / 8 / STREAMS_MAX;
  if (sendBufferBytes >= neededBytes) return [];
  const mostMbps = (sendBufferBytes * STREAMS_MAX * 8) / rttUs;
  const found = `${formatBytes(sendBufferBytes)} for each of ${STREAMS_MAX} connections: at most ${formatMbps(mostMbps)}`;
  const setting = `net.ipv4.tcp_wmem='4096 65536 ${2 ** Math.ceil(Math.log2(neededBytes))}'`;
  return [warn(`send buffer ${from}→${to}`, found, `run sysctl -w ${setting} on ${from}, and ${PERSIST}`)];
}

/** Interfaces in one subnet: if one answers ARP for another's address, data arrives over the wrong interface. */
export function checkSharedSubnets({ hello, system }: HostFacts): readonly Finding[] {
  const facts = known(system);
  const groups = subnetsOfSeveral(known(hello)?.addresses ?? []);
  if (facts === undefined) return [];
  return groups.map(({ subnet, names }) => {
    const shared = `${names.join(' and ')} share ${subnet}`;
    const traps = [...new Set(names.flatMap((name) => trapsOf(name, facts)))];
    if (traps.length === 0) return ok('interfaces', `${shared}; ARP and rp_filter are set for it`);
    return warn(
      'interfaces',
      `${shared}, and ${traps.join(', ')}: replies may use the wrong interface`,
      SHARED_SUBNET_FIX,
    );
  });
}

const SHARED_SUBNET_FIX = `run sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 net.ipv4.conf.all.rp_filter=2, and ${PERSIST}; or give each interface its own subnet`;

interface SharedSubnet {
  readonly subnet: string;
  readonly names: readonly string[];
}

function subnetsOfSeveral(addresses: readonly HostAddress[]): readonly SharedSubnet[] {
  const used = addresses.filter(
    ({ address, up, kind }) => up && isIPv4(address) && kind !== 'bridge' && kind !== 'loopback',
  );
  const groups = new Map<string, Set<string>>();
  for (const address of used) {
    const first = used.find((other) => other.prefix === address.prefix && isInSubnet(address, other)) ?? address;
    const subnet = `the subnet of ${first.address}/${first.prefix}`;
    groups.set(subnet, (groups.get(subnet) ?? new Set()).add(address.interface));
  }
  return [...groups].flatMap(([subnet, names]) => (names.size > 1 ? [{ subnet, names: [...names] }] : []));
}

function isInSubnet({ address }: HostAddress, other: HostAddress): boolean {
  const subnet = new BlockList();
  subnet.addSubnet(other.address, other.prefix);
  return subnet.check(address);
}

/** Wrong settings of an interface. The kernel uses the greater of the interface's own value and that of `all`. */
function trapsOf(name: string, { interfaces }: SystemFacts): readonly string[] {
  const own = interfaces.get(name);
  const all = interfaces.get('all');
  if (own === undefined || all === undefined) return [];
  const effective = (key: keyof InterfaceSettings) => Math.max(own[key], all[key]);
  return [
    ...(effective('arpIgnore') === 0 ? ['arp_ignore is 0'] : []),
    ...(effective('arpAnnounce') < 2 ? [`arp_announce is ${effective('arpAnnounce')}`] : []),
    ...(effective('rpFilter') === 1 ? ['rp_filter is 1'] : []),
  ];
}
