// SPDX-License-Identifier: Apache-2.0
// A stream from h1 to h2 that flows as long as a test needs, and checks of its end.
import { statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { CabledLab } from '../support/cabled-lab.ts';
import { eventually } from '../support/eventually.ts';
import { digestOf } from '../support/programs.ts';
import { limitWords, NEVER, type RunLimits } from '../support/run-limits.ts';
import { failed, type Result, type Running } from '../support/shell.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** More than pipes and windows hold: if more is sent, the stream moves. */
const HELD_BYTES = 4 * MIB;
const WINDOW = '--buffer 1MiB';

export interface TransferOptions {
  /** Further words for rdpipe's command line. */
  readonly words?: string;
  /** h2 replaces a file instead of running a command. */
  readonly toFile?: boolean;
  /** By default no limit expires. */
  readonly limits?: RunLimits;
}

export class CabledTransfer {
  readonly #lab: CabledLab;
  readonly #toFile: boolean;
  readonly #running: Running;

  /** Creates `sent` in the directory of the test, and the files that h2 writes. */
  constructor(lab: CabledLab, options: TransferOptions) {
    const { words = '', toFile = false, limits = NEVER } = options;
    this.#lab = lab;
    this.#toFile = toFile;
    if (toFile) writeFileSync(`${lab.directory}/target`, 'old');
    const source = `while test ! -e stop; do head -c 256K /dev/urandom; sleep 0.02; done | tee sent`;
    const consumer = toFile ? '> target' : `cat > target; touch committed`;
    const [from, to] = [
      `h1:'cd ${lab.directory} && ${source}'`,
      toFile ? `h2:'> ${lab.directory}/target'` : `h2:'cd ${lab.directory} && ${consumer}'`,
    ];
    this.#running = lab.start(`exec rdpipe ${limitWords(limits)} ${WINDOW} ${words} ${from} ${to} > /dev/null`);
  }

  get result(): Promise<Result> {
    return this.#running.result;
  }

  /** Waits until h1 has sent so much more that h2 must have received some of it. */
  async moves(): Promise<void> {
    const before = this.#sentBytes();
    const grows = () => expect(this.#sentBytes()).to.be.greaterThan(before + HELD_BYTES);
    const ended = this.result.then(({ status, stderr }) => expect.fail(`ended with ${status}: ${stderr}`));
    await Promise.race([eventually(grows), ended]);
  }

  /** Ends the stream and expects that all of it has arrived. */
  async endsWell(): Promise<void> {
    writeFileSync(`${this.#lab.directory}/stop`, '');
    const { status, signal, stderr } = await this.result;
    expect({ status, signal }, stderr).to.deep.equal({ status: 0, signal: null });
    expect(await digestOf(`${this.#lab.directory}/target`)).to.equal(await digestOf(`${this.#lab.directory}/sent`));
    expect(await this.#lab.list()).to.include.members(this.#toFile ? ['target'] : ['target', 'committed']);
  }

  /**
   * Expects that the run fails with this reason, that no consumer took a part for the complete stream, and that nothing
   * of the run is left.
   */
  async endsBadly(why: RegExp): Promise<void> {
    failed(await this.result, 125, why);
    await this.#lab.expectNothingLeft();
    const files = await this.#lab.list();
    expect(files.sort()).to.deep.equal(['sent', 'target']);
    if (this.#toFile) expect((await this.#lab.read('target')).toString()).to.equal('old');
  }

  #sentBytes(): number {
    return statSync(`${this.#lab.directory}/sent`, { throwIfNoEntry: false })?.size ?? 0;
  }
}
