/** Ctrl-Z and fg: suspends and resumes the whole run. */

import type { Agent } from '../agent/agent.ts';
import type { Emit } from '../model/events.ts';
import type { Deadline } from '../session/deadline.ts';

/**
 * Makes Ctrl-Z stop the complete run, and `fg` resume it. `stopProcess` stops the process that the user started.
 * Returns a function that removes these handlers.
 */
export function suspendOnTerminalStop(
  agents: Iterable<Agent>,
  deadline: Deadline | undefined,
  emit: Emit,
  stopProcess: () => void = () => process.kill(process.pid, 'SIGSTOP'),
): () => void {
  const all = [...agents];
  let isSuspended = false;
  const stop = () => {
    if (isSuspended) return;
    isSuspended = true;
    deadline?.pause();
    emit({ kind: 'suspended' });
    for (const agent of all) agent.send({ op: 'suspend' });
    // In the next turn of the event loop the messages have been sent.
    setImmediate(stopProcess);
  };
  const goOn = () => {
    if (!isSuspended) return;
    isSuspended = false;
    deadline?.resume();
    for (const agent of all) agent.send({ op: 'resume' });
    emit({ kind: 'resumed' });
  };
  process.on('SIGTSTP', stop);
  process.on('SIGCONT', goOn);
  return () => {
    process.off('SIGTSTP', stop);
    process.off('SIGCONT', goOn);
  };
}
