// SPDX-License-Identifier: Apache-2.0
// Three hosts, of which h2 is hostile to any rdpipe that starts an agent on it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Behaviour, HostileProgram } from '../../support/hostile-agent.ts';
import { type Lab, useLab } from '../../support/lab.ts';
import { MARK_VARIABLE } from '../../support/processes.ts';
import { limitWords, NEVER, type RunLimits } from '../../support/run-limits.ts';
import type { Result, Running } from '../../support/shell.ts';

export interface HostileLab {
  readonly lab: Lab;
  behave(behaviour: Behaviour): void;
  /** Runs rdpipe with these words until it ends; h2 is hostile. By default no time limit expires. */
  rdpipe(words: string, limits?: RunLimits): Promise<Result>;
  start(words: string): Running;
  /** Closes all connections of the hostile agents. */
  hangUp(): void;
}

export function useHostileLab(): HostileLab {
  const lab = useLab();
  let program: HostileProgram;
  before(async () => {
    const [name = '', mark] = lab.markSetting.split('=');
    expect(name).to.equal(MARK_VARIABLE);
    program = new HostileProgram({ ...process.env, [MARK_VARIABLE]: mark });
    await program.open();
    writeFileSync(join(lab.homes, 'hostile.toml'), `[host.h2]\nagent = "${program.path}"\n`);
  });
  afterEach(() => program.hangUp());
  after(() => program?.close());
  const start = (words: string, limits = NEVER) =>
    lab.start(`exec rdpipe --config '${lab.homes}/hostile.toml' ${limitWords(limits)} ${words}`);
  return {
    lab,
    behave: (behaviour) => program.behave(behaviour),
    rdpipe: (words, limits) => start(words, limits).result,
    hangUp: () => program.hangUp(),
    start,
  };
}

/** rdpipe itself failed (125): one line that names the host, without terminal sequences. */
export function gaveUp({ status, stderr }: Result, why: RegExp = /h2/): void {
  expect(stderr).to.match(why);
  expect(stderr.trimEnd().split('\n'), stderr).to.have.length(1);
  expect(stderr).to.match(/^rdpipe: .*h2/);
  expect(stderr).not.to.match(/internal error|\bat .*:\d+:\d+/);
  harmless(stderr);
  expect(status).to.equal(125);
}

/** The text contains nothing that moves the cursor, changes colors or reorders text. */
export function harmless(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that none gets through
  expect(text).not.to.match(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/);
}
