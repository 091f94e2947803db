/** Aborts a run on the user's first signal, and ends the process on the second. */
import { constants } from 'node:os';
import { SignalError } from '../model/errors.ts';

export const USER_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type UserSignal = (typeof USER_SIGNALS)[number];

/**
 * Aborts `run` on the user's first signal and ends the process on the second. `ignoredMask` is SigIgn of /proc in
 * hexadecimal, read before node started, which resets it: under nohup, SIGHUP must stay ignored.
 */
export async function untilUserSignal<Result>(
  ignoredMask: string | undefined,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const unwatch = watchUserSignals(controller, ignoredMask);
  try {
    return await run(controller.signal);
  } finally {
    unwatch();
  }
}

function watchUserSignals(run: AbortController, ignoredMask: string | undefined): () => void {
  const onSignal = (signal: UserSignal) => {
    if (run.signal.aborted) process.exit(128 + constants.signals[signal]);
    run.abort(new SignalError(signal));
  };
  const ignore = () => {};
  const watched = USER_SIGNALS.map((signal) => {
    const listener = isIgnored(signal, ignoredMask) ? ignore : onSignal;
    process.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of watched) process.off(signal, listener);
  };
}

function isIgnored(signal: UserSignal, mask: string | undefined): boolean {
  if (mask === undefined || !/^[0-9a-f]{1,16}$/.test(mask)) return false;
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}
