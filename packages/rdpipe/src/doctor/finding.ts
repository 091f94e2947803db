/** Constructors of findings: ok, warn, fail, and the result of a missing RDMA device. */
import type { Finding } from '../model/examination.ts';
import type { Requirements } from './facts.ts';

/** A check that found no problem. */
export function ok(check: string, found: string): Finding {
  return { check, result: 'ok', found, fix: null };
}

/** A problem that does not prevent runs; `fix` is the remedy. */
export function warn(check: string, found: string, fix: string): Finding {
  return { check, result: 'warn', found, fix };
}

/** A problem that prevents runs, or a requested feature; `fix` is the remedy. */
export function fail(check: string, found: string, fix: string): Finding {
  return { check, result: 'fail', found, fix };
}

/** A missing requirement of RDMA is a failure only with --transport rdma: otherwise rdpipe uses TCP. */
export function withoutRdma(wanted: Requirements, check: string, found: string, fix: string): Finding {
  return wanted.transport === 'rdma' ? fail(check, found, fix) : warn(check, `${found}; using TCP`, fix);
}

/** Having no RDMA card is normal: it is a failure only with --transport rdma. */
export function withoutRdmaCard(wanted: Requirements, found: string, fix: string): Finding {
  return wanted.transport === 'rdma' ? fail('rdma', found, fix) : ok('rdma', `${found}; using TCP`);
}
