// SPDX-License-Identifier: Apache-2.0
// A minimal Debian in a directory, as for a new user, with git, sudo, node and npm.
// Each command line runs in its own mount and pid namespaces, which end with the command line.
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
import { mirrorOf } from '../../scripts/dist/debian-root.ts';
import { ROOT } from './root.ts';

export interface Typed {
  readonly status: number | null;
  /** The final text of the screen's lines, each with a line feed. */
  readonly screen: string;
}

export const RELEASE = 'bookworm';
/** The releases that new users may have: Debian's name and the codename of each. */
export const RELEASES: Readonly<Record<string, string>> = { 'Debian 12': RELEASE, 'Debian 13': 'trixie' };

export interface BareSystem {
  /** Codename; default: RELEASE. */
  readonly release?: string;
  /** Debian's name of another architecture, which is emulated. */
  readonly architecture?: string;
}

const BYTES = { encoding: 'buffer', stripFinalNewline: false } as const;
const MIRROR = 'http://deb.debian.org/debian';
const PACKAGES = ['ca-certificates', 'git', 'sudo'];
/** The bundle of this machine's CA certificates, at a fixed path inside. */
const CERTIFICATES = '/etc/ssl/certs/of-the-tests.pem';
const MOUNTS = `mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sys"`;

export class BareDebian {
  readonly #directory: string;

  private constructor() {
    this.#directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-debian-'));
    chmodSync(this.#directory, 0o755);
  }

  /** Takes about a minute, and 600 MB. */
  static async make(release: string): Promise<BareDebian> {
    const system = await BareDebian.makeWithoutNode(PACKAGES, { release });
    system.installNode();
    return system;
  }

  /** Installs these packages in addition to a minimal Debian. */
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

  /** Returns another machine with a copy of the current state. */
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

  /** Puts this checkout's files, without anything built, into the directory `rdpipe` of the user's home. */
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
   * Runs lines of bash as if typed after a login, in a terminal of 80 columns and 24 rows. Stops after the first
   * line that fails.
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

  /** Installs node and npm in /usr/local, like a download of nodejs.org: cron's PATH does not include it. */
  installNode(): void {
    const npm = dirname(dirname(realpathSync(execaSync('sh', ['-c', 'command -v npm']).stdout)));
    const modules = this.path('usr/local/lib/node_modules');
    cpSync(process.execPath, this.path('usr/local/bin/node'));
    cpSync(npm, join(modules, 'npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', this.path('usr/local/bin/npm'));
  }

  /** Copies this machine's name resolution and CA certificates. */
  #copyNetworkSettings(): void {
    for (const file of ['/etc/resolv.conf', '/etc/hosts'])
      writeFileSync(this.path(file), existsSync(file) ? readFileSync(file) : '');
    const certificates = process.env.NODE_EXTRA_CA_CERTS;
    if (certificates) cpSync(realpathSync(certificates), this.path(CERTIFICATES));
  }
}

/**
 * Applies carriage returns and the sequence for the first column, which overwrite a line from its start. ESC 8 is
 * removed first because node's function would also remove a letter after it.
 */
function screenOf(text: string): string {
  const simple = text.replaceAll('\u001b[1G', '\r').replaceAll('\r\n', '\n');
  const plain = stripVTControlCharacters(simple.replaceAll('\u001b7', '').replaceAll('\u001b8', ''));
  return plain.replaceAll(/^.*\r/gm, '');
}

/** The RELEASES on which packages built on this machine run: its own release and later ones. */
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

/** The mirror of this machine's packages, if it runs Debian. */
export function mirror(release = RELEASE): string {
  return mirrorOf(release, ...Object.values(RELEASES)) ?? MIRROR;
}

/** `words` are the $0, $1 … of the sh script. */
function inNamespaces(script: string, ...words: readonly string[]) {
  const unshare = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, ...words];
  return execa('unshare', unshare, { all: true, reject: false, stripFinalNewline: false });
}

function homeOf(user: string): string {
  return user === 'root' ? 'root' : join('home', user);
}
