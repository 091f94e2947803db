import { networkInterfaces } from 'node:os';

/** The addresses of this machine's interfaces. */
export function localAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}
