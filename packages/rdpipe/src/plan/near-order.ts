/** `--order near`: orders a chain so that few of its links leave a machine or a subnet. Pure. */
import type { SessionId } from '../model/plan.ts';
import { commonSubnets, type HopEndAddresses, onOneMachine, orderOfAddress, placeOf } from './addresses.ts';
import { factsOf, type PlanInput, type SessionFacts } from './facts.ts';

/**
 * Returns the order in which parts forward the stream from `sender`: first those on the sender's machine, then those in
 * its subnets, then the others. Each of these groups is sorted by data address, so that subnets stay together, and so
 * do racks with consecutive addresses. The hosts of one machine are adjacent. The hosts' addresses are all that is
 * known about the switches between them.
 */
export function inNearOrder<Part>(
  parts: readonly Part[],
  sender: SessionId,
  sessionOf: (part: Part) => SessionId,
  input: PlanInput,
): readonly Part[] {
  const from = factsOf(sender, input);
  const sites = parts.map((part) => ({ part, ...siteOf(factsOf(sessionOf(part), input), from, input) }));
  const firsts = new Map<string, bigint>();
  for (const { machine, address } of sites) {
    const first = firsts.get(machine);
    if (first === undefined || address < first) firsts.set(machine, address);
  }
  const firstOf = ({ machine, address }: Site) => firsts.get(machine) ?? address;
  const byPlace = (one: Site, other: Site) =>
    one.distance - other.distance || compare(firstOf(one), firstOf(other)) || compare(one.address, other.address);
  return sites.sort(byPlace).map(({ part }) => part);
}

interface Site {
  /** 0: on the sender's machine, 1: in one of its subnets, 2: elsewhere. */
  readonly distance: number;
  readonly machine: string;
  /** A number that sorts like the address. */
  readonly address: bigint;
}

function siteOf(host: SessionFacts, sender: SessionFacts, input: PlanInput): Site {
  const place = placeOf(host, sender, input);
  const isNear = commonSubnets(placeOf(sender, host, input), place).length > 0;
  const { boot_id: machine } = host.hello;
  return {
    distance: onOneMachine(host, sender) ? 0 : isNear ? 1 : 2,
    machine: machine === '' ? host.id : machine,
    address: orderOfAddress(dataAddress(place)),
  };
}

/** Returns the address that hops prefer. */
function dataAddress({ given, own, ssh }: HopEndAddresses): string | undefined {
  const [fastest] = [...own].sort((one, other) => (other.speed_mbps ?? 0) - (one.speed_mbps ?? 0));
  return given?.address ?? fastest?.address ?? ssh;
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
