// SPDX-License-Identifier: Apache-2.0
// A Debian in a directory, as a new user has it, with git, sudo, node and npm.
// Each command line has its own mounts and processes in namespaces, which end with it.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa, execaSync } from 'execa';
import { ROOT } from './root.ts';

export interface Typed {
  readonly status: number | null;
  /** The lines as they stood at last, each with a line feed. */
  readonly screen: string;
}

export const RELEASE = 'bookworm';
/** Those on which a new user may be, by the names that Debian gives them. */
export const RELEASES: Readonly<Record<string, string>> = { 'Debian 12': RELEASE, 'Debian 13': 'trixie' };

export interface BareSystem {
  /** Default: RELEASE. */
  readonly release?: string;
  /** Of another processor, which is emulated. */
  readonly architecture?: string;
}

const BYTES = { encoding: 'buffer', stripFinalNewline: false } as const;
const MIRROR = 'http://deb.debian.org/debian';
const PACKAGES = ['ca-certificates', 'git', 'sudo'];
/** The whole of a machine's certificates, under one name there. */
const CERTIFICATES = '/etc/ssl/certs/of-the-tests.pem';
const MOUNTS = `mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sys"`;

export class BareDebian {
  readonly #directory: string;

  private constructor() {
    this.#directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-debian-'));
    chmodSync(this.#directory, 0o755);
  }

  /** Takes a minute or so, and 600 MB. */
  static async make(release: string): Promise<BareDebian> {
    const system = await BareDebian.makeWithoutNode(PACKAGES, { release });
    system.installNode();
    return system;
  }

  /** With packages of Debian beside the least that there is. */
  static async makeWithoutNode(packages: readonly string[], kind: BareSystem = {}): Promise<BareDebian> {
    const { release = RELEASE, architecture } = kind;
    const system = new BareDebian();
    try {
      const arch = architecture === undefined ? [] : [`--arch=${architecture}`];
      const include = `--include=${packages.join(',')}`;
      const words = ['--variant=minbase', ...arch, include, release, system.#directory, mirror(release)];
      const { failed, all } = await inNamespaces('exec debootstrap "$@"', 'debootstrap', ...words);
      if (failed) throw new Error(`debootstrap: ${all.slice(-1000)}`);
      system.#copyNetworkSettings();
      return system;
    } catch (error) {
      system.remove();
      throw error;
    }
  }

  /** Another machine, as this one is now. */
  copy(): BareDebian {
    const other = new BareDebian();
    execaSync('cp', ['--archive', '--reflink=auto', `${this.#directory}/.`, other.#directory]);
    return other;
  }

  addUser(name: string, mayUseSudo: boolean): void {
    if (name !== 'root')
      execaSync('chroot', [this.#directory, 'useradd', '--create-home', '--shell', '/bin/bash', name]);
    if (mayUseSudo) writeFileSync(this.path('etc/sudoers.d', name), `${name} ALL=(ALL) NOPASSWD: ALL\n`);
  }

  /** In the directory `rdpipe` of the user's home: this checkout's files, and nothing that was built. */
  addCheckout(name: string): void {
    const checkout = this.path(homeOf(name), 'rdpipe');
    mkdirSync(checkout);
    const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const { stdout } = execaSync('git', words, { cwd: ROOT });
    const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)));
    const archive = execaSync('tar', ['--null', '--files-from=-', '-c'], {
      ...BYTES,
      cwd: ROOT,
      input: files.join('\0'),
    });
    execaSync('tar', ['--no-same-owner', '-x'], { cwd: checkout, input: archive.stdout });
    execaSync('chroot', [this.#directory, 'chown', '-R', `${name}:`, join('/', homeOf(name), 'rdpipe')]);
  }

  /**
   * Runs lines of bash as they are typed after a login, at a terminal of 80 columns and 24 rows; the first that fails
   * is the last.
   */
  async type(user: string, ...typed: readonly string[]): Promise<Typed> {
    const environment = existsSync(this.path(CERTIFICATES)) ? [`export NODE_EXTRA_CA_CERTS=${CERTIFICATES}`] : [];
    writeFileSync(this.path('tmp/typed'), ['stty cols 80 rows 24', ...environment, ...typed, ''].join('\n'));
    const terminal = 'exec script --quiet --return --flush --command "bash -e /tmp/typed" /dev/null';
    const inside = `${MOUNTS} && exec chroot "$0" su - "$1" -c "$2"`;
    const { exitCode = null, all } = await inNamespaces(inside, this.#directory, user, terminal);
    return { status: exitCode, screen: screenOf(all) };
  }

  path(...names: readonly string[]): string {
    return join(this.#directory, ...names);
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** In /usr/local, with npm, as from nodejs.org: not in the PATH of cron. */
  installNode(): void {
    const npm = dirname(dirname(realpathSync(execaSync('sh', ['-c', 'command -v npm']).stdout)));
    const modules = this.path('usr/local/lib/node_modules');
    cpSync(process.execPath, this.path('usr/local/bin/node'));
    cpSync(npm, join(modules, 'npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', this.path('usr/local/bin/npm'));
  }

  /** How this machine finds names, and which certificates it believes. */
  #copyNetworkSettings(): void {
    for (const file of ['/etc/resolv.conf', '/etc/hosts'])
      writeFileSync(this.path(file), existsSync(file) ? readFileSync(file) : '');
    const certificates = process.env.NODE_EXTRA_CA_CERTS;
    if (certificates) cpSync(realpathSync(certificates), this.path(CERTIFICATES));
  }
}

/**
 * A carriage return, or the sequence for the first column, begins a line again. Node would take a letter after ESC 8.
 */
function screenOf(text: string): string {
  const simple = text.replaceAll('\u001b[1G', '\r').replaceAll('\r\n', '\n');
  const plain = stripVTControlCharacters(simple.replaceAll('\u001b7', '').replaceAll('\u001b8', ''));
  return plain.replaceAll(/^.*\r/gm, '');
}

/** The RELEASES on which packages run that were built on this machine: its own and later ones. */
export function releasesFromHere(): (readonly [name: string, release: string])[] {
  const [, codename] = /^VERSION_CODENAME="?(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  const all = Object.entries(RELEASES);
  return all.slice(
    Math.max(
      0,
      all.findIndex(([, release]) => release === codename),
    ),
  );
}

/** Where this machine's own packages come from, if it is a Debian: a mirror has its other releases, too. */
export function mirror(release = RELEASE): string {
  const words = ['indextargets', '--format', '$(CODENAME) $(REPO_URI)', 'Created-By: Packages'];
  const own = execaSync('apt-get', words, { lines: true }).stdout.map((line) => line.split(' '));
  const known = [release, ...Object.values(RELEASES)];
  return known.flatMap((name) => own.find(([codename]) => codename === name)?.[1] ?? []).at(0) ?? MIRROR;
}

/** A script of sh, with its $0, $1 … */
function inNamespaces(script: string, ...words: readonly string[]) {
  const unshare = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, ...words];
  return execa('unshare', unshare, { all: true, reject: false, stripFinalNewline: false });
}

function homeOf(user: string): string {
  return user === 'root' ? 'root' : join('home', user);
}
