// SPDX-License-Identifier: Apache-2.0
// The expected message and status of rdpipe after a process of its run was killed.
import type { Cell, HostRole, Target } from './cells.ts';
import type { Host } from './shapes.ts';

export interface ExpectedEnd {
  readonly status: number | null;
  readonly signal: 'SIGKILL' | null;
  /** Matches rdpipe's only line; undefined: it prints none. */
  readonly words: RegExp | undefined;
}

const NUMBERS = { SIGTERM: 15, SIGKILL: 9 } as const;

/** The expected end of a cell that is not hidden. */
export function expectedEnd({ phase, target, signal }: Cell): ExpectedEnd {
  if ('stage' in target) return endOfStage(target, signal);
  if (!('host' in target)) return endOfRdpipe(signal);
  const words = phase === 'login' ? loginWords(target.role, target.host) : hostWords(target.role, target.host);
  return { status: 125, signal: null, words };
}

function endOfRdpipe(signal: Cell['signal']): ExpectedEnd {
  if (signal === 'SIGKILL') return { status: null, signal, words: undefined };
  return { status: 143, signal: null, words: /^rdpipe: ended by SIGTERM$/m };
}

/** The shell reports the death of a child that is not hidden with its own status. */
function endOfStage({ role, stage }: Extract<Target, { stage: number }>, signal: Cell['signal']): ExpectedEnd {
  const status = 128 + NUMBERS[signal];
  const ended = role === 'command' ? `was killed by ${signal}` : `exited with status ${status}`;
  return { status, signal: null, words: new RegExp(`^rdpipe: stage ${stage} \\(.*\\) ${ended}`) };
}

/** rdpipe retries a server that drops a connection before login, so the silent host fails first. */
function loginWords(role: HostRole, host: Host): RegExp {
  return new RegExp(`^rdpipe: (cannot reach|lost the connection to) ${role === 'sshd' ? 'h[123]' : host}\\b`);
}

function hostWords(role: HostRole, host: Host): RegExp {
  const label = host === '' ? 'this machine' : host;
  switch (role) {
    case 'rdsend':
    case 'rdrecv':
      return new RegExp(`^rdpipe: ${role} on ${label}: `);
    case 'guardian':
    case 'supervisor':
      return new RegExp(`^rdpipe: .*(on|to) ${label}: |^rdpipe: ${label}: `);
    default:
      // While hops connect, an agent may not have sent its hello yet.
      return new RegExp(`^rdpipe: (lost the connection to|lost the agent on|cannot start the agent on) ${label}\\b`);
  }
}
