// SPDX-License-Identifier: Apache-2.0
// A stream from h1 to h2 that runs for as long as a test needs, and checks of its end.
import { statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { CabledLab } from '../support/cabled-lab.ts';
import { eventually } from '../support/eventually.ts';
import { digestOf } from '../support/programs.ts';
import { failed, type Result, type Running } from '../support/shell.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** More than pipes and windows hold: what is sent beyond it shows that the stream moves. */
const HELD_BYTES = 4 * MIB;
const WINDOW = '--buffer 1MiB';
export const LIMITS = limits(3, 4);
const BEGIN_MS = 20_000;
/** The lease, and what a loaded machine takes to end everything. */
const END_MS = 4_000 + 6_000;

export interface TransferOptions {
  /** More words of rdpipe's. */
  readonly words?: string;
  /** h2 has a file that is replaced, not a command. */
  readonly toFile?: boolean;
  /** Seconds; 3 and 4 by default. */
  readonly stallTimeout?: number;
  readonly lease?: number;
}

export class CabledTransfer {
  readonly #lab: CabledLab;
  readonly #toFile: boolean;
  readonly #running: Running;

  /** The folder of the test has `sent` then, and what h2 makes. */
  constructor(lab: CabledLab, options: TransferOptions) {
    const { words = '', toFile = false, stallTimeout = 3, lease = 4 } = options;
    this.#lab = lab;
    this.#toFile = toFile;
    if (toFile) writeFileSync(`${lab.folder}/target`, 'old');
    const source = `while test ! -e stop; do head -c 256K /dev/urandom; sleep 0.02; done | tee sent`;
    const consumer = toFile ? '> target' : `cat > target; touch committed`;
    const [from, to] = [
      `h1:'cd ${lab.folder} && ${source}'`,
      toFile ? `h2:'> ${lab.folder}/target'` : `h2:'cd ${lab.folder} && ${consumer}'`,
    ];
    this.#running = lab.start(
      `exec rdpipe ${limits(stallTimeout, lease)} ${WINDOW} ${words} ${from} ${to} > /dev/null`,
    );
  }

  get result(): Promise<Result> {
    return this.#running.result;
  }

  /** So much more goes from h1 that h2 must have taken some of it. */
  async moves(): Promise<void> {
    const before = this.#sentBytes();
    const grows = () => expect(this.#sentBytes()).to.be.greaterThan(before + HELD_BYTES);
    const ended = this.result.then(({ status, stderr }) => expect.fail(`ended with ${status}: ${stderr}`));
    await Promise.race([eventually(grows, BEGIN_MS), ended]);
  }

  /** Ends the stream, and everything of it has arrived. */
  async endsWell(): Promise<void> {
    writeFileSync(`${this.#lab.folder}/stop`, '');
    const { status, signal, stderr } = await this.result;
    expect({ status, signal }, stderr).to.deep.equal({ status: 0, signal: null });
    expect(await digestOf(`${this.#lab.folder}/target`)).to.equal(await digestOf(`${this.#lab.folder}/sent`));
    expect(await this.#lab.list()).to.include.members(this.#toFile ? ['target'] : ['target', 'committed']);
  }

  /** The run fails in bounded time and says why, no consumer took a part for the whole, and nothing of it is left. */
  async endsBadly(why: RegExp): Promise<void> {
    const started = Date.now();
    failed(await this.result, 125, why);
    await this.#lab.expectNothingLeft();
    expect(Date.now() - started).to.be.lessThan(END_MS);
    const files = await this.#lab.list();
    expect(files.sort()).to.deep.equal(['sent', 'target']);
    if (this.#toFile) expect((await this.#lab.read('target')).toString()).to.equal('old');
  }

  #sentBytes(): number {
    return statSync(`${this.#lab.folder}/sent`, { throwIfNoEntry: false })?.size ?? 0;
  }
}

function limits(stallTimeout: number, lease: number): string {
  return `--stall-timeout ${stallTimeout} --lease ${lease}`;
}
