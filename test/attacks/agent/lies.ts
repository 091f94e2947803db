// SPDX-License-Identifier: Apache-2.0
// False messages of a hostile host, and when it sends them.
// In each of them h2 is between two honest hosts.
import type { AgentEvent } from '../../../packages/rdpipe/src/model/protocol.ts';
import type { Behaviour, HostileAgent } from '../../support/hostile-agent.ts';
import { connectSoon, leaseSoon, type RunLimits } from '../../support/run-limits.ts';

export interface Lie {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** The message of the one line, besides the host's name. */
  readonly why: RegExp;
  /** By default no time limit of the run expires. */
  readonly limits?: () => RunLimits;
}

/** Sent before the agent's hello. */
const GREETINGS: readonly Lie[] = [
  { ...lie('is silent', /the login shell did not start it within/, (agent) => agent.gone()), limits: connectSoon },
  lie('hangs up at once', /cannot start the agent/, async () => {}),
  lie('prints endlessly', /keeps printing and never runs the agent/, (agent) =>
    flood(agent, Buffer.from('welcome\n'.repeat(4096))),
  ),
  lie('prints an endless line', /keeps printing and never runs the agent/, (agent) =>
    flood(agent, Buffer.alloc(65_536, 'x')),
  ),
  {
    ...lie('sends another nonce', /no answer|cannot start/, async (agent) => {
      await agent.write(`rdstage/1 ${'0'.repeat(32)} {}\n`);
      await agent.gone();
    }),
    limits: connectSoon,
  },
  hello('is not JSON', '{"v":1', /valid hello/),
  hello('is not UTF-8', Buffer.from('"\xff"', 'latin1'), /valid hello/),
  hello('is nested endlessly', '['.repeat(500_000), /valid hello/),
  hello('is a list', '[1]', /valid hello/),
  changed('has another version', { v: 2 }, /has a different version/),
  changed('has a huge version', { v: 1e308 }, /valid hello/),
  changed('has 300 addresses', { addresses: Array(300).fill(address('10.0.0.1', 8)) }, /valid hello/),
  changed('has an address that is a command', { addresses: [address('$(reboot)', 8)] }, /valid hello/),
  changed('has an address with a zone', { addresses: [address('2001:db8::1%-oX', 8)] }, /valid hello/),
  changed('has a prefix too long for its family', { addresses: [address('10.0.0.1', 64)] }, /valid hello/),
];

function hello(what: string, text: string | Buffer, why: RegExp): Lie {
  return lie(`sends a hello that ${what}`, why, async (agent) => {
    await agent.write(Buffer.concat([Buffer.from(`rdstage/1 ${agent.nonce} `), Buffer.from(text), Buffer.from('\n')]));
    await agent.gone();
  });
}

function changed(what: string, changes: object, why: RegExp): Lie {
  return lie(`sends a hello that ${what}`, why, async (agent) => {
    await agent.hello(changes);
    await agent.gone();
  });
}

function address(text: string, prefix: number): object {
  return { address: text, prefix, interface: 'eth0', up: true, speed_mbps: 1000, kind: 'physical', mtu: 1500 };
}

/** When the false message is sent: in place of this message of the real agent, or before it. */
const MOMENTS = ['prepared', 'connected', 'started', 'exited', 'link_ended', 'segment_ended'] as const;

const NONSENSE: Readonly<Record<string, string | Buffer>> = {
  'a line that is not JSON': 'nonsense',
  'an empty line': '',
  'a line that is not UTF-8': Buffer.from('{"event":"left_behind","pid":1,"command":"\xff\xfe"}', 'latin1'),
  'endless nesting': '{"a":'.repeat(150_000),
  'a list': '[{"event":"ended"}]',
  'an unknown event': '{"event":"exploded"}',
  'the name of a property of every object': '{"event":"__proto__"}',
  'a second greeting': 'rdstage/1 00000000000000000000000000000000 {}',
  'an endless line': Buffer.alloc(2 * 1024 * 1024, 'x'),
  'terminal sequences': '\u001b[2J\u001b]0;owned\u0007\u009b31m',
};

/** Each is wrong at any time. */
const FALSE_EVENTS: Readonly<Record<string, object>> = {
  'the start of another host': { event: 'started', stage: 3, pid: 1 },
  'the success of another host': exited({ stage: 3 }),
  'the failure of another host': { event: 'failed', stage: 1, code: 'internal', message: 'h1 is bad' },
  'stderr of another host': { event: 'stderr', stage: 1, data: '68310a' },
  'the delivery of the sender before it': linkEnded(1, 'send'),
  'the delivery of the receiver after it': linkEnded(2, 'recv'),
  'the port of the sender before it': { event: 'listening', link: 1, end: 'send', transport: 'tcp', port: 22 },
  'the connection of the receiver after it': connected(2, 'recv'),
  'the end of a missing hop': linkEnded(77, 'recv'),
  'the end of a missing stage': exited({ stage: 77 }),
  'a negative exit status': exited({ code: -1 }),
  'an exit status of 256': exited({ code: 256 }),
  'a huge exit status': exited({ code: 1e308 }),
  'no exit status': exited({ code: null }),
  'an exit status and a signal': exited({ code: 0, signal: 9 }),
  'a signal 999': exited({ code: null, signal: 999 }),
  'a signal 0': exited({ code: null, signal: 0 }),
  'negative counters': counters(-1),
  'counters above 2^53': counters(2 ** 53),
  'counters of half a byte': counters(0.5),
  'a port of 0': { event: 'listening', link: 1, end: 'recv', transport: 'tcp', port: 0 },
  'a port of 65536': { event: 'listening', link: 1, end: 'recv', transport: 'tcp', port: 65_536 },
  'memory without a number': { ...linkEnded(1, 'recv'), max_rss_kib: null },
  'negative time': { ...linkEnded(1, 'recv'), user_ms: -1 },
  'too much time': { ...linkEnded(1, 'recv'), system_ms: 2 ** 60 },
  'half a byte of stderr': { event: 'stderr', stage: 2, data: '6' },
  'a connection over an invented transport': { ...connected(1, 'recv'), transport: '\u001b[31m' },
  'an invented cipher': { ...connected(1, 'recv'), cipher: 'rot13' },
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
    openssl: '3.5.9',
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
    send_buffer_ms: 0,
    receive_window_ms: 0,
    sent_again: 0,
    streams: 1,
    rtt_us: 0,
  };
}

function atEachMoment(what: string, line: string | Buffer): Lie[] {
  return MOMENTS.map((moment) =>
    lie(`sends ${what} before ${moment}`, /invalid message|a line that is too long/, (agent) =>
      agent.stand(async (event) => {
        if (event.event === moment) await agent.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
        return JSON.stringify(event);
      }),
    ),
  );
}

/** Sends the real message twice. */
const TWICE = MOMENTS.map((moment) =>
  lie(`sends ${moment} twice`, /invalid message: .* twice/, (agent) =>
    agent.stand((event) => {
      const line = JSON.stringify(event);
      return event.event === moment ? `${line}\n${line}` : line;
    }),
  ),
);

/** Withholds a message that must come before the end. */
const UNSAID = (['exited', 'link_ended'] as const).map((kept) =>
  lie(`does not send ${kept}`, /did not report how/, (agent) => agent.stand(without(kept))),
);

const OUT_OF_ORDER = [
  lie('ends before abort', /ended early/, (agent) => agent.stand(inPlaceOf('exited', { event: 'ended' }))),
  lie('reports the end of its part before its beginning', /without prepared/, (agent) =>
    agent.stand(inPlaceOf('prepared', { event: 'segment_ended', segment: 1 })),
  ),
  lie('exits before it started', /without started/, (agent) => agent.stand(inPlaceOf('started', exited({})))),
  lie('connects without encryption', /without encryption/, (agent) =>
    agent.stand((event) => JSON.stringify(event.event === 'connected' ? { ...event, cipher: 'none' } : event)),
  ),
  lie('counts different bytes from its neighbour', /different byte counts/, (agent) =>
    agent.stand((event) => JSON.stringify(event.event === 'link_ended' ? { ...event, bytes: 1 } : event)),
  ),
];

/** Closes its connection before one of these messages, without a reason. */
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

/** Sends nothing from some message on, but keeps its connection open: the lease ends this. */
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
