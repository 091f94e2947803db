/** Constructors of findings: ok, warn, fail, and what a missing RDMA device counts as. */
import type { Finding } from '../model/examination.ts';
import type { Wanted } from './facts.ts';

export function ok(check: string, found: string): Finding {
  return { check, result: 'ok', found, fix: null };
}

export function warn(check: string, found: string, fix: string): Finding {
  return { check, result: 'warn', found, fix };
}

export function fail(check: string, found: string, fix: string): Finding {
  return { check, result: 'fail', found, fix };
}

/** A missing requirement of RDMA is a failure only with --transport rdma: otherwise hops use TCP. */
export function withoutRdma(wanted: Wanted, check: string, found: string, fix: string): Finding {
  return wanted.transport === 'rdma' ? fail(check, found, fix) : warn(check, `${found}: hops use TCP`, fix);
}

/** A host without such a card is as it was bought. */
export function withoutRdmaCard(wanted: Wanted, found: string, fix: string): Finding {
  return wanted.transport === 'rdma' ? fail('rdma', found, fix) : ok('rdma', `${found}: hops use TCP`);
}
