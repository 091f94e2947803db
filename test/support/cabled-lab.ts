// SPDX-License-Identifier: Apache-2.0
// A lab whose hosts are connected by cables that a test can pull.
import type { Context } from 'mocha';
import { Cables, USER } from './cables.ts';
import { Lab } from './lab.ts';
import { needsRoot, needsTool } from './needs.ts';
import { COMMAND_MS, patience } from './patience.ts';

export const CABLED_HOSTS = ['h1', 'h2', 'h3'] as const;
export type CabledHost = (typeof CABLED_HOSTS)[number];

export interface CabledLabOptions {
  /** Time limit of one command line, before patience(). */
  readonly longestMs?: number;
}

export function useCabledLab(options: CabledLabOptions = {}): CabledLab {
  const lab = new CabledLab(options.longestMs === undefined ? COMMAND_MS : patience(options.longestMs));
  before(function () {
    needsCables(this);
    return lab.plugIn();
  });
  beforeEach(() => lab.beginTest());
  afterEach(() => lab.expectNothingLeft());
  after(() => lab.close());
  return lab;
}

function needsCables(test: Context): void {
  needsRoot(test);
  needsTool(test, 'sshd', 'ssh', 'ssh-keygen', 'ip', 'ss', 'nft');
}

export class CabledLab extends Lab {
  #cables: Cables | undefined;

  async plugIn(): Promise<void> {
    this.#cables = new Cables(CABLED_HOSTS);
    const specs = CABLED_HOSTS.map((name) => ({
      name,
      network: { through: this.cables.on(name), address: this.cables.address(name, 'control') },
    }));
    await this.open(specs, this.cables.on(USER));
  }

  get cables(): Cables {
    if (this.#cables === undefined) throw new Error('the cables are not there yet');
    return this.#cables;
  }

  /** Options of rdpipe that send these hosts' data over the data cables. */
  overData(...hosts: readonly CabledHost[]): string {
    return hosts.map((host) => `--data ${host}=${this.cables.address(host, 'data')}`).join(' ');
  }

  override async close(): Promise<void> {
    await super.close();
    this.#cables?.remove();
  }
}
