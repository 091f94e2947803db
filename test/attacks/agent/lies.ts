// SPDX-License-Identifier: Apache-2.0
// The lies of a hostile host, and when it tells them. In each of them h2 stands between two honest hosts.
import type { AgentEvent } from '../../../packages/rdpipe/src/model/protocol.ts';
import type { Behaviour, HostileAgent } from '../../support/hostile-agent.ts';
import { connectSoon, leaseSoon, type RunLimits } from '../../support/run-limits.ts';

export interface Lie {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** The words of the one line, beside the host's name. */
  readonly why: RegExp;
  /** By default none of the run expires. */
  readonly limits?: () => RunLimits;
}

/** Before it has introduced itself. */
const GREETINGS: readonly Lie[] = [
  { ...lie('is silent', /the login shell did not start it within/, (agent) => agent.gone()), limits: connectSoon },
  lie('hangs up at once', /cannot start the agent/, async () => {}),
  lie('prints without end', /keeps printing and never runs the agent/, (agent) =>
    flood(agent, Buffer.from('welcome\n'.repeat(4096))),
  ),
  lie('prints a line without end', /keeps printing and never runs the agent/, (agent) =>
    flood(agent, Buffer.alloc(65_536, 'x')),
  ),
  {
    ...lie('knows another nonce', /no answer|cannot start/, async (agent) => {
      await agent.write(`rdstage/1 ${'0'.repeat(32)} {}\n`);
      await agent.gone();
    }),
    limits: connectSoon,
  },
  hello('is no JSON', '{"v":1', /valid hello/),
  hello('is not UTF-8', Buffer.from('"\xff"', 'latin1'), /valid hello/),
  hello('is nested without end', '['.repeat(500_000), /valid hello/),
  hello('is a list', '[1]', /valid hello/),
  changed('is of another version', { v: 2 }, /has a different version/),
  changed('is of a version beyond numbers', { v: 1e308 }, /valid hello/),
  changed('has 300 addresses', { addresses: Array(300).fill(address('10.0.0.1', 8)) }, /valid hello/),
  changed('has an address that is a command', { addresses: [address('$(reboot)', 8)] }, /valid hello/),
  changed('has an address with a zone', { addresses: [address('2001:db8::1%-oX', 8)] }, /valid hello/),
  changed('has a subnet beyond its family', { addresses: [address('10.0.0.1', 64)] }, /valid hello/),
];

function hello(what: string, text: string | Buffer, why: RegExp): Lie {
  return lie(`introduces itself by what ${what}`, why, async (agent) => {
    await agent.write(Buffer.concat([Buffer.from(`rdstage/1 ${agent.nonce} `), Buffer.from(text), Buffer.from('\n')]));
    await agent.gone();
  });
}

function changed(what: string, changes: object, why: RegExp): Lie {
  return lie(`introduces itself by what ${what}`, why, async (agent) => {
    await agent.hello(changes);
    await agent.gone();
  });
}

function address(text: string, prefix: number): object {
  return { address: text, prefix, interface: 'eth0', up: true, speed_mbps: 1000, kind: 'physical', mtu: 1500 };
}

/** When it says something false: in place of this message of the true agent, or before it. */
const MOMENTS = ['prepared', 'connected', 'started', 'exited', 'link_ended', 'segment_ended'] as const;

const NONSENSE: Readonly<Record<string, string | Buffer>> = {
  'what is no JSON': 'nonsense',
  'an empty line': '',
  'what is not UTF-8': Buffer.from('{"event":"left_behind","pid":1,"command":"\xff\xfe"}', 'latin1'),
  'a nesting without end': '{"a":'.repeat(150_000),
  'a list': '[{"event":"ended"}]',
  'an unknown event': '{"event":"exploded"}',
  'the name of what every object has': '{"event":"__proto__"}',
  'a second greeting': 'rdstage/1 00000000000000000000000000000000 {}',
  'a line without end': Buffer.alloc(2 * 1024 * 1024, 'x'),
  'terminal sequences': '\u001b[2J\u001b]0;owned\u0007\u009b31m',
};

/** Each is wrong whenever it is said. */
const FALSE_EVENTS: Readonly<Record<string, object>> = {
  'that another host started': { event: 'started', stage: 3, pid: 1 },
  'that another host exited well': exited({ stage: 3 }),
  'that another host failed': { event: 'failed', stage: 1, code: 'internal', message: 'h1 is bad' },
  'words of another host': { event: 'stderr', stage: 1, data: '68310a' },
  'that the sender before it delivered': linkEnded(1, 'send'),
  'that the receiver behind it has everything': linkEnded(2, 'recv'),
  'where the sender before it listens': { event: 'listening', link: 1, end: 'send', transport: 'tcp', port: 22 },
  'that the receiver behind it is connected': connected(2, 'recv'),
  'that a hop is over that is not there': linkEnded(77, 'recv'),
  'that a stage is over that is not there': exited({ stage: 77 }),
  'an exit status below nothing': exited({ code: -1 }),
  'an exit status of 256': exited({ code: 256 }),
  'an exit status beyond numbers': exited({ code: 1e308 }),
  'no exit status at all': exited({ code: null }),
  'an exit status and a signal': exited({ code: 0, signal: 9 }),
  'a signal 999': exited({ code: null, signal: 999 }),
  'a signal 0': exited({ code: null, signal: 0 }),
  'counters below nothing': counters(-1),
  'counters beyond whole numbers': counters(2 ** 53),
  'counters of half a byte': counters(0.5),
  'a port of 0': { event: 'listening', link: 1, end: 'recv', transport: 'tcp', port: 0 },
  'a port of 65536': { event: 'listening', link: 1, end: 'recv', transport: 'tcp', port: 65_536 },
  'memory without number': { ...linkEnded(1, 'recv'), max_rss_kib: null },
  'time before the beginning': { ...linkEnded(1, 'recv'), user_ms: -1 },
  'more time than there is': { ...linkEnded(1, 'recv'), system_ms: 2 ** 60 },
  'half a byte of stderr': { event: 'stderr', stage: 2, data: '6' },
  'a connection by a carrier of its own': { ...connected(1, 'recv'), transport: '\u001b[31m' },
  'a cipher of its own': { ...connected(1, 'recv'), cipher: 'rot13' },
};

function exited(changes: object): object {
  const usage = { user_ms: 1, system_ms: 1, max_rss_kib: 1 };
  return {
    event: 'exited',
    stage: 2,
    code: 0,
    signal: null,
    stopped: false,
    consumer_closed: false,
    ...usage,
    ...changes,
  };
}

function linkEnded(link: number, end: string): object {
  const ended = { result: 'delivered', status: 0, code: 'ok', message: '', bytes: 0, wire_bytes: 0 };
  return { event: 'link_ended', link, end, ...ended, user_ms: 0, system_ms: 0, max_rss_kib: 0 };
}

function connected(link: number, end: string): object {
  const made = {
    transport: 'tcp',
    cipher: 'aes-256-gcm',
    local: '1.2.3.4:5',
    peer: '1.2.3.4:6',
    device: null,
    numa: null,
    note: null,
  };
  return { event: 'connected', link, end, ...made };
}

function counters(bytes: number): object {
  return {
    event: 'counters',
    link: 1,
    end: 'recv',
    bytes,
    wire_bytes: 0,
    input_ms: 0,
    limit_ms: 0,
    worker_ms: 0,
    wire_ms: 0,
    output_ms: 0,
    rtt_us: 0,
  };
}

function atEachMoment(what: string, line: string | Buffer): Lie[] {
  return MOMENTS.map((moment) =>
    lie(`says ${what} before ${moment}`, /invalid message|endless/, (agent) =>
      agent.stand(async (event) => {
        if (event.event === moment) await agent.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
        return JSON.stringify(event);
      }),
    ),
  );
}

/** The true message, twice. */
const TWICE = MOMENTS.map((moment) =>
  lie(`says ${moment} twice`, /invalid message: .* twice/, (agent) =>
    agent.stand((event) => {
      const line = JSON.stringify(event);
      return event.event === moment ? `${line}\n${line}` : line;
    }),
  ),
);

/** It keeps back what would have to be said before the end. */
const UNSAID = (['exited', 'link_ended'] as const).map((kept) =>
  lie(`does not say ${kept}`, /did not report how/, (agent) => agent.stand(without(kept))),
);

const OUT_OF_ORDER = [
  lie('ends before abort', /ended early/, (agent) => agent.stand(inPlaceOf('exited', { event: 'ended' }))),
  lie('calls its part ended before it began', /without prepared/, (agent) =>
    agent.stand(inPlaceOf('prepared', { event: 'segment_ended', segment: 1 })),
  ),
  lie('exits before it started', /without started/, (agent) => agent.stand(inPlaceOf('started', exited({})))),
  lie('connects in clear', /without encryption/, (agent) =>
    agent.stand((event) => JSON.stringify(event.event === 'connected' ? { ...event, cipher: 'none' } : event)),
  ),
  lie('counts other bytes than its neighbour', /different byte counts/, (agent) =>
    agent.stand((event) => JSON.stringify(event.event === 'link_ended' ? { ...event, bytes: 1 } : event)),
  ),
];

/** Where its connection ends, and nothing is said of it. */
const HANG_UPS = (
  ['prepared', 'listening', 'connected', 'started', 'exited', 'link_ended', 'segment_ended', 'ended'] as const
).map((moment) =>
  lie(`hangs up before ${moment}`, /lost (the agent|the connection|h2)|lost|closed/, (agent) =>
    agent.stand((event) => {
      if (event.event === moment) agent.hangUp();
      return JSON.stringify(event);
    }),
  ),
);

/** From some moment on nothing is heard of it, though its connection stands: the lease ends that. */
const SILENCES = (['prepared', 'started', 'segment_ended'] as const).map((moment) => {
  const silence = lie(`falls silent before ${moment}`, /it sent nothing|lost/, (agent) => {
    let isSilent = false;
    return agent.stand((event) => {
      isSilent ||= event.event === moment;
      return isSilent ? undefined : JSON.stringify(event);
    });
  });
  return { ...silence, limits: leaseSoon };
});

export const LIES: readonly Lie[] = [
  ...GREETINGS,
  ...Object.entries(NONSENSE).flatMap(([what, line]) => atEachMoment(what, line)),
  ...Object.entries(FALSE_EVENTS).flatMap(([what, event]) => atEachMoment(what, JSON.stringify(event))),
  ...TWICE,
  ...UNSAID,
  ...OUT_OF_ORDER,
  ...HANG_UPS,
  ...SILENCES,
];

function lie(name: string, why: RegExp, behaviour: Behaviour): Lie {
  return { name, why, behaviour };
}

async function flood(agent: HostileAgent, bytes: Buffer): Promise<void> {
  for (;;) await agent.write(bytes);
}

function without(kept: AgentEvent['event']) {
  return (event: AgentEvent) => (event.event === kept ? undefined : JSON.stringify(event));
}

function inPlaceOf(moment: AgentEvent['event'], other: object) {
  return (event: AgentEvent) => JSON.stringify(event.event === moment ? other : event);
}
