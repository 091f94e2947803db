/** `rdpipe doctor`: examines hosts and the network between them. */
import type { HostRef } from '../model/pipeline.ts';
import { parseHosts } from '../parse/hosts.ts';
import { createDoctorView, createJsonDoctorView, type DoctorView } from '../ui/terminal/doctor.ts';
import type { Terminal } from '../ui/terminal/terminal.ts';
import { type HostCommand, type HostInvocation, runHostCommand } from './host-command.ts';
import type { Io } from './io.ts';

/** Runs `rdpipe doctor` and returns the exit status: 1 if a check failed, otherwise 0. */
export function doctor(invocation: HostInvocation, io: Io, terminal: Terminal): Promise<number> {
  return runHostCommand(DOCTOR, invocation, io, terminal);
}

const DOCTOR: HostCommand<readonly HostRef[], DoctorView> = {
  parse: parseHosts,
  jsonView: (_, output) => createJsonDoctorView(output),
  view: createDoctorView,
  async work(wanted, view, signal) {
    const { examine } = await import('../doctor/examine.ts');
    const examination = await examine(wanted, view, signal);
    view.finished(examination);
    return examination.status;
  },
};
