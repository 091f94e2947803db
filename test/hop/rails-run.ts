// SPDX-License-Identifier: Apache-2.0
// A stream to a receiver with an address in each of two networks.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/needs.ts';
import { BIN, KEY } from '../support/programs.ts';
import { type Rail, Rails, receiverAt, whatRailsLack } from '../support/rails.ts';
import { type Started, startProgram } from '../support/start-program.ts';

const PART_BYTES = 8 * 2 ** 20;
export const PORT = '4711';
const HOSTS = `${receiverAt(0)},${receiverAt(1)}`;

/** Makes the networks for the suite, and ends what a test left running. */
export function useRails(): () => RailsRun {
  let run: RailsRun | undefined;
  before(function () {
    needs(this, whatRailsLack());
    run = new RailsRun();
  });
  afterEach(() => run?.stop());
  after(() => run?.close());
  return () => run as RailsRun;
}

class RailsRun {
  readonly rails = Rails.open();
  readonly #directory = mkdtempSync(join(tmpdir(), 'rails-'));
  readonly #part = randomBytes(PART_BYTES);
  readonly #running: Started[] = [];

  constructor() {
    writeFileSync(join(this.#directory, 'key'), `${KEY}\n`, { mode: 0o600 });
    writeFileSync(join(this.#directory, 'part'), this.#part);
  }

  /** Starts both ends, and waits until a third of the stream was sent and each network has a connection. */
  async begin(): Promise<void> {
    const { rails } = this;
    const command = `${BIN}/rdrecv --streams 2 --key-fd 3 ${PORT} - >'${this.#directory}/received'`;
    this.start(rails.receiver, command);
    await eventually(() => expect(socketsOf(rails.receiver, 'listening')).to.include(`:${PORT} `));
    const part = `cat '${this.#directory}/part'`;
    const send = `${BIN}/rdsend --json --key-fd 3 ${HOSTS} ${PORT} - 2>'${this.#directory}/events'`;
    this.start(rails.sender, `(${part}; read -r _; ${part}; read -r _; ${part}) | ${send}`);
    await this.usesBoth();
  }

  /** Waits until each network has a connection. */
  async usesBoth(limitMs?: number): Promise<void> {
    const uses = (rail: Rail) =>
      expect(socketsOf(this.rails.sender, 'established')).to.include(`${receiverAt(rail)}:${PORT}`);
    await eventually(() => ([0, 1] as const).map(uses), limitMs);
  }

  /** Lets the sender send the next third. */
  goOn(): void {
    this.#running.at(-1)?.child.stdin?.write('\n');
  }

  /** Waits for both ends, which must succeed with the whole stream. */
  async endsWell(): Promise<void> {
    const ended = await Promise.all(this.#running.splice(0).map((end) => end.ended));
    expect(ended.map(({ status }) => status)).to.deep.equal([0, 0]);
    const received = readFileSync(join(this.#directory, 'received'));
    expect(received.equals(Buffer.concat([this.#part, this.#part, this.#part]))).to.equal(true);
  }

  /** The events of the sender so far. */
  events(): string {
    return readFileSync(join(this.#directory, 'events'), 'utf8');
  }

  start(inside: readonly string[], command: string): Started {
    const words = [...inside, 'bash', '-c', `exec 3<'${join(this.#directory, 'key')}'; ${command}`];
    const started = startProgram(words, { stdin: 'pipe' });
    this.#running.push(started);
    return started;
  }

  /** Kills what still runs. */
  async stop(): Promise<void> {
    for (const { child } of this.#running) child.kill('SIGKILL');
    await Promise.all(this.#running.splice(0).map(({ ended }) => ended));
  }

  async close(): Promise<void> {
    await this.stop();
    this.rails.close();
    rmSync(this.#directory, { recursive: true });
  }
}

function socketsOf([command = '', ...words]: readonly string[], state: string): string {
  return execaSync(command, [...words, 'ss', '-Htn', 'state', state]).stdout;
}
