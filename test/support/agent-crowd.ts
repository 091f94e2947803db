// SPDX-License-Identifier: Apache-2.0
// Simulates the agents of many hosts in the test process; rdpipe reaches them through a launcher, or through a master
// of ssh.
// They send the events of real agents, but carry no data.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import type {
  AgentEvent,
  AgentHello,
  AgentLink,
  AgentRequest,
  HopEnd,
} from '../../packages/rdpipe/src/model/protocol.ts';
import { compileProgram } from './compile-program.ts';
import { serveShells } from './mux-master.ts';

/** CPU time and peak memory of the controller so far. */
export interface Usage {
  readonly cpuS: number;
  /** Peak resident memory. */
  readonly peakMib: number;
}

/** Measurements of a run, taken by its agents. */
export interface CrowdRun {
  /** From the first login to the last `go`. */
  readonly startS: number;
  /** Usage of the controller at the last `go` request, and at the first `finish` request. */
  readonly started: Usage;
  readonly finished: Usage;
  /** Time from `started` to `finished`. */
  readonly ranS: number;
  readonly hosts: number;
  /** The largest number of shells that had not answered yet at one time. */
  readonly mostLogins: number;
}

const COUNTERS_APART_MS = 250;
/** Delay of a login, as of a network and a key exchange, so that logins overlap. */
const LOGIN_MS = 20;
const BYTES = 1_000_000;

export class AgentCrowd {
  readonly #directory = mkdtempSync(join(tmpdir(), 'rdpipe-crowd-'));
  #servers: readonly Server[] = [];
  #run: Stage | undefined;

  /** The first words of a command line that runs a shell of a host; the host's name follows. */
  get shell(): string {
    return `${join(this.#directory, 'relay')} ${join(this.#directory, 'socket')}`;
  }

  /** The control socket of a master, which serves all hosts. */
  get master(): string {
    return join(this.#directory, 'master');
  }

  async open(): Promise<void> {
    compileProgram('test/support/unix-relay.c', join(this.#directory, 'relay'), ['-static']);
    const relayed = createServer({ allowHalfOpen: true }, (socket) => this.#run?.take(socket, undefined));
    const muxed = serveShells((shell) => this.#run?.take(shell, 'a host'));
    this.#servers = [relayed.listen(listenAt(join(this.#directory, 'socket'))), muxed.listen(listenAt(this.master))];
    await Promise.all(this.#servers.map((server) => once(server, 'listening')));
  }

  close(): void {
    for (const server of this.#servers) server.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /**
   * Simulates `hosts` hosts in the next run; each end of a hop sends counters `counters` times. Shells answer when
   * `loginsAtOnce` of them are waiting, or when all hosts have started.
   */
  play(hosts: number, counters: number, controller: () => number, loginsAtOnce = 1): () => CrowdRun {
    const run = new Stage(hosts, counters, controller, loginsAtOnce);
    this.#run = run;
    return () => run.seen();
  }
}

function listenAt(path: string): ListenOptions {
  return { path, backlog: 4096 };
}

/** The state of one run. */
class Stage {
  readonly #hosts: number;
  readonly #counters: number;
  readonly #controller: () => number;
  readonly #loginsAtOnce: number;
  readonly #unanswered: (() => void)[] = [];
  readonly #agents = new Set<Agent>();
  readonly #ends = new Map<string, Agent>();
  readonly #connected = new Set<number>();
  #beganMs = 0;
  #goneMs = 0;
  #finishedMs = 0;
  #going = 0;
  #logins = 0;
  #mostLogins = 0;
  #started: Usage | undefined;
  #finished: Usage | undefined;

  constructor(hosts: number, counters: number, controller: () => number, loginsAtOnce: number) {
    this.#hosts = hosts;
    this.#counters = counters;
    this.#controller = controller;
    this.#loginsAtOnce = loginsAtOnce;
  }

  /** `host`: its name; undefined if that is the first line of the shell. */
  take(shell: Duplex, host: string | undefined): void {
    if (this.#beganMs === 0) this.#beganMs = performance.now();
    const agent = new Agent(shell, this.#agents.size + 1, host, {
      login: (answer) => this.#login(answer),
      request: (request) => this.#answer(agent, request),
    });
    this.#agents.add(agent);
    this.#logins += 1;
    this.#mostLogins = Math.max(this.#mostLogins, this.#logins);
  }

  seen(): CrowdRun {
    const [started, finished] = [this.#started, this.#finished];
    if (started === undefined || finished === undefined) throw new Error('the run did not come to its end');
    const seconds = (from: number, to: number) => (to - from) / 1000;
    return {
      startS: seconds(this.#beganMs, this.#goneMs),
      ranS: seconds(this.#goneMs, this.#finishedMs),
      started,
      finished,
      hosts: this.#agents.size,
      mostLogins: this.#mostLogins,
    };
  }

  #login(answer: () => void): void {
    this.#unanswered.push(answer);
    if (this.#unanswered.length < this.#loginsAtOnce && this.#agents.size < this.#hosts) return;
    const answers = this.#unanswered.splice(0);
    setTimeout(() => {
      this.#logins -= answers.length;
      for (const each of answers) each();
    }, LOGIN_MS);
  }

  #answer(agent: Agent, request: AgentRequest): void {
    switch (request.op) {
      case 'prepare':
        agent.ends = request.links.flatMap(endsOf);
        for (const { link, end } of agent.ends) this.#ends.set(`${link} ${end}`, agent);
        agent.say({ event: 'prepared', segment: request.segment });
        return;
      case 'listen':
        agent.say({ event: 'listening', link: request.link, end: request.end, transport: 'tcp', port: 40_000 });
        return;
      case 'dial':
        this.#connect(request.link);
        return;
      case 'go':
        this.#go(request.segment);
        return;
      case 'ping':
        agent.say({ event: 'alive' });
        return;
      case 'finish':
      case 'abort':
        this.#finish(agent);
        return;
      default:
    }
  }

  /** Connects a link once; a request for a second candidate is ignored. */
  #connect(link: number): void {
    if (this.#connected.has(link)) return;
    this.#connected.add(link);
    for (const end of ['send', 'recv'] as const) {
      const place = { local: '10.0.0.1:40000', peer: '10.0.0.2:40000', device: null, numa: null, note: null };
      const how = { transport: 'tcp', cipher: 'aes-256-gcm', openssl: '3.5.9' } as const;
      this.#ends.get(`${link} ${end}`)?.say({ event: 'connected', link, end, ...how, ...place });
    }
  }

  #go(segment: number): void {
    this.#going += 1;
    if (this.#going < this.#hosts) return;
    this.#goneMs = performance.now();
    this.#started = usageOf(this.#controller());
    this.#count(this.#counters, segment);
  }

  /** Sends the counters of every end, then the results of the ends. */
  #count(left: number, segment: number): void {
    const bytes = BYTES * (this.#counters - left + 1);
    const waits = { input_ms: 1, limit_ms: 0, worker_ms: 0, wire_ms: 2, output_ms: 3 };
    const limits = { send_buffer_ms: 0, receive_window_ms: 0, sent_again: 0, streams: 1 };
    const amounts = { bytes, wire_bytes: bytes, ...limits };
    for (const agent of this.#agents) {
      if (left > 0) {
        agent.say(
          ...agent.ends.map((end) => ({ event: 'counters', ...end, ...amounts, ...waits, rtt_us: 90 }) as const),
        );
        continue;
      }
      const how = { result: 'delivered', status: 0, code: 'ok', message: '' } as const;
      const usage = { user_ms: 1, system_ms: 1, max_rss_kib: 9000 };
      agent.say(...agent.ends.map((end) => ({ event: 'link_ended', ...end, ...how, ...amounts, ...usage }) as const));
      agent.say({ event: 'segment_ended', segment });
    }
    if (left > 0) setTimeout(() => this.#count(left - 1, segment), COUNTERS_APART_MS);
  }

  #finish(agent: Agent): void {
    if (this.#finished === undefined) {
      this.#finishedMs = performance.now();
      this.#finished = usageOf(this.#controller());
    }
    agent.say({ event: 'ended' });
    agent.end();
  }
}

interface End {
  readonly link: number;
  readonly end: HopEnd;
}

function endsOf(link: AgentLink): readonly End[] {
  if (link.kind === 'hop') return [{ link: link.link, end: link.end }];
  return link.kind === 'local' ? (['send', 'recv'] as const).map((end) => ({ link: link.link, end })) : [];
}

/** A shell that becomes an agent. */
class Agent {
  ends: readonly End[] = [];
  readonly #shell: Duplex;

  constructor(
    shell: Duplex,
    number: number,
    named: string | undefined,
    on: { readonly login: (answer: () => void) => void; readonly request: (request: AgentRequest) => void },
  ) {
    this.#shell = shell.on('error', () => {});
    let nonce = '';
    let host = named;
    createInterface({ input: shell })
      .on('line', (line) => {
        if (host === undefined) host = line;
        else if (line.startsWith('{"op"')) on.request(JSON.parse(line));
        else if (line.startsWith('echo ')) {
          // A shell removes the quotes.
          const answer = `${line.slice('echo '.length).replaceAll("'", '')}\n`;
          on.login(() => shell.write(answer));
        } else if (line.startsWith('nonce=')) nonce = line.slice('nonce='.length);
        // The next to last line of the script.
        else if (line.startsWith('printf '))
          shell.write(`rdstage/1 ${nonce} ${JSON.stringify(helloOf(number, host))}\n`);
      })
      .on('error', () => {}) // the shell's error
      .on('close', () => shell.end());
  }

  say(...events: readonly AgentEvent[]): void {
    this.#shell.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  end(): void {
    this.#shell.end();
  }
}

/** The hello of one of several machines in the same network. */
function helloOf(number: number, hostname: string): AgentHello {
  const address = `10.1.${Math.floor(number / 250)}.${(number % 250) + 1}`;
  const eth0 = {
    address,
    prefix: 16,
    interface: 'eth0',
    up: true,
    speed_mbps: 25_000,
    kind: 'physical',
    mtu: 1500,
  } as const;
  return {
    v: 1,
    version: '0.2.0',
    os: 'Linux',
    cpu: 'x86_64',
    boot_id: `boot-${number}`,
    net_ns: 4026531840,
    uid: 1000,
    user: 'ann',
    hostname,
    pid: number + 1,
    ssh_connection: `10.1.255.1 50000 ${address} 22`,
    aes: true,
    memlock: null,
    seccomp: true,
    landlock: 7,
    rdma_lacks: null,
    addresses: [eth0],
    rdma: [],
  };
}

const TICKS_A_SECOND = 100;

function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  const peakKib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { cpuS: (user + system) / TICKS_A_SECOND, peakMib: peakKib / 1024 };
}
