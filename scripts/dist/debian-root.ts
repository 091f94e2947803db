// SPDX-License-Identifier: Apache-2.0
/** A Debian 13 in a directory, in which the static programs are built: its OpenSSL encrypts faster than Debian 12's. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { foreignArchitecture, rootPrefix, staticPackages } from '../setup/system-packages.mjs';

const RELEASE = 'trixie';
const MIRROR = 'http://deb.debian.org/debian';
const SCRIPT = join(import.meta.dirname, 'debian-root.sh');

export class DebianRoot {
  readonly directory = mkdtempSync(join(tmpdir(), 'rdpipe-debian-'));
  /** Removes the directory when its standard input ends: also if this process is killed. */
  readonly #keeper: ReturnType<typeof inBackground>;

  private constructor() {
    chmodSync(this.directory, 0o755);
    this.#keeper = inBackground(this.#words('keep'));
  }

  /** Takes about two minutes, and 1 GB. Its packages, for both CPUs, are the current ones. */
  static async make(): Promise<DebianRoot> {
    const root = new DebianRoot();
    const security = mirrorOf(`${RELEASE}-security`, 'bookworm-security') ?? `${MIRROR}-security`;
    const words = [RELEASE, mirrorOf(RELEASE, 'bookworm') ?? MIRROR, security, foreignArchitecture()];
    try {
      await root.#do('make', ...words, ...staticPackages());
      return root;
    } catch (error) {
      await root.remove();
      throw error;
    }
  }

  /** Runs a command in it as this user, in the checkout, whose path is the same for everybody there. */
  async run(checkout: string, ...command: readonly string[]): Promise<void> {
    await this.#do('run', checkout, `${process.getuid?.()}:${process.getgid?.()}`, ...command);
  }

  async remove(): Promise<void> {
    this.#keeper.stdin.end();
    const { failed, stderr } = await this.#keeper;
    if (failed) throw new Error(`${this.directory} cannot be removed: ${stderr}`);
  }

  async #do(verb: string, ...more: readonly string[]): Promise<void> {
    const [command = '', ...words] = this.#words(verb, ...more);
    const { failed, all } = await execa(command, words, { all: true, reject: false });
    if (failed) throw new Error(`the Debian 13 for static programs: ${verb} failed:\n${all.slice(-2000)}`);
  }

  #words(verb: string, ...more: readonly string[]): string[] {
    const prefix = rootPrefix();
    if (prefix === undefined) throw new Error('static programs are built in a Debian 13, which needs root or sudo');
    return [...prefix, 'sh', SCRIPT, verb, this.directory, ...more];
  }
}

/** Neither signals from the terminal nor the end of this process end it. */
function inBackground([command = '', ...words]: readonly string[]) {
  return execa(command, words, { detached: true, cleanup: false, reject: false });
}

/**
 * Returns the mirror from which this machine has the first of these suites that it uses: a mirror also has the others.
 * Undefined: this machine uses none of them.
 */
export function mirrorOf(...codenames: readonly string[]): string | undefined {
  const words = ['indextargets', '--format', '$(CODENAME) $(REPO_URI)', 'Created-By: Packages'];
  const own = execaSync('apt-get', words, { lines: true }).stdout.map((line) => line.split(' '));
  return codenames.flatMap((name) => own.find(([codename]) => codename === name)?.[1] ?? []).at(0);
}
