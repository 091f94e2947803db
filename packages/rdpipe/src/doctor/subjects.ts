/** The hosts and pairs that an examination covers. Pure. */
import { type HostRef, THIS_MACHINE } from '../model/pipeline.ts';
import type { Requirements } from './facts.ts';

export interface Subject {
  readonly host: HostRef;
  readonly wanted: Requirements;
}

export interface Pair {
  readonly from: HostRef;
  readonly to: HostRef;
  readonly wanted: Requirements;
}

export interface Subjects {
  readonly hosts: readonly Subject[];
  readonly pairs: readonly Pair[];
}

/**
 * Every host once, and every pair of neighbours. A single host is paired with this machine, for which RDMA is not
 * required.
 */
export function chooseSubjects(written: readonly HostRef[], wanted: Requirements): Subjects {
  const hosts = [...new Map(written.map((host) => [host.label, host])).values()];
  const [only, ...others] = hosts;
  if (only !== undefined && others.length === 0 && only.name !== '') {
    const withoutRdma: Requirements = { ...wanted, transport: wanted.transport === 'tcp' ? 'tcp' : 'auto' };
    return {
      hosts: [
        { host: THIS_MACHINE, wanted: withoutRdma },
        { host: only, wanted },
      ],
      pairs: [{ from: THIS_MACHINE, to: only, wanted: withoutRdma }],
    };
  }
  return { hosts: hosts.map((host) => ({ host, wanted })), pairs: neighbours(written, wanted) };
}

/** Pairs of neighbours in the order and direction in which they were first written. */
function neighbours(written: readonly HostRef[], wanted: Requirements): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  for (const [index, to] of written.entries()) {
    const from = written[index - 1] ?? to;
    const key = JSON.stringify([from.label, to.label].sort());
    if (from.label !== to.label && !pairs.has(key)) pairs.set(key, { from, to, wanted });
  }
  return [...pairs.values()];
}
