/**
 * Why execa threw: it does where no descriptor is left for the pipes, for then node hands out a process without any, and
 * tells the reason later.
 */
export function startRefused(program: string, cause: unknown): Error {
  return Object.assign(new Error(`spawn ${program} EMFILE`, { cause }), { code: 'EMFILE' });
}
