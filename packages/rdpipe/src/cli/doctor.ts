/** `rdpipe doctor`: what keeps hosts from being joined, and how to mend it. */
import { isatty } from 'node:tty';
import { loadSettings } from '../config/settings.ts';
import type { DoctorInput } from '../doctor/examine.ts';
import { RdpipeError } from '../model/errors.ts';
import type { Invocation } from '../parse/argv.ts';
import { parseHosts } from '../parse/hosts.ts';
import { createDoctorView, createJsonView, type DoctorView, type Output } from '../ui/doctor.ts';
import { type Terminal, writeAll } from '../ui/terminal.ts';
import type { Io } from './rdpipe.ts';
import { watchUserSignals } from './user-signals.ts';

export type DoctorInvocation = Extract<Invocation, { hostWords: readonly string[] }>;

/** The exit status: 0 when all is well, 1 when a check failed. */
export async function doctor(invocation: DoctorInvocation, io: Io, terminal: Terminal): Promise<number> {
  const output: Output = { color: terminal.color && isatty(1), write: (text) => writeAll(1, Buffer.from(text)) };
  let view: DoctorView | undefined = invocation.options.json === true ? createJsonView(output) : undefined;
  try {
    const settings = await loadSettings(invocation.options, io.environment);
    const hosts = parseHosts(invocation.hostWords, settings.namedHosts);
    view = await createDoctorView(settings, terminal, output);
    return await examineHosts({ hosts, settings }, io, view);
  } catch (error) {
    if (view === undefined) throw error;
    view.failure(error);
    return error instanceof RdpipeError ? error.status : 125;
  } finally {
    view?.close();
  }
}

async function examineHosts(
  wanted: Pick<DoctorInput, 'hosts' | 'settings'>,
  io: Io,
  view: DoctorView,
): Promise<number> {
  const controller = new AbortController();
  const forgetSignals = watchUserSignals(controller, io.ignoredSignals);
  try {
    const [{ examine }, { findInstallation }] = await Promise.all([
      import('../doctor/examine.ts'),
      import('./installation.ts'),
    ]);
    const examination = await examine({ ...wanted, installation: findInstallation() }, view, controller.signal);
    view.finished(examination);
    return examination.status;
  } finally {
    forgetSignals();
  }
}
