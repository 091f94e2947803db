// SPDX-License-Identifier: Apache-2.0
// The keys of hops appear only in the agents' own input, and not in a core.
// The test learns the keys from an agent that records its input: on remote hosts given by --agent, on this machine as
// the built agent.
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { needs, needsRoot, needsSightOfPrograms } from '../support/needs.ts';
import { type MarkedProcess, signalProcess, visibleTexts } from '../support/processes.ts';
import { BIN } from '../support/programs.ts';

const NATIVE = `native/linux-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}/static`;

describe("a hop's key", () => {
  const lab = useLab();
  const told = () => join(lab.directory, 'told');

  beforeEach(() => {
    for (const name of [NATIVE, 'xdg', 'tmp', 'notes'])
      mkdirSync(join(lab.directory, name), { mode: 0o700, recursive: true });
    for (const name of ['rdhop', 'rdtree']) symlinkSync(join(BIN, name), join(lab.directory, NATIVE, name));
    // Closed for tee: it must not keep the user's descriptors 3 and 4 open.
    const listen = `tee -a '${told()}' 3<&- 4>&- | '${BIN}/rdstage' "$@"`;
    const script = `#!/bin/sh\ncase $1 in --agent) ${listen} ;; *) exec '${BIN}/rdstage' "$@" ;; esac\n`;
    writeFileSync(agent(), script);
    chmodSync(agent(), 0o755);
    writeFileSync(told(), '');
  });

  const agent = () => join(lab.directory, NATIVE, 'rdstage');
  const environment = () => ({
    RDPIPE_NATIVE_DIR: join(lab.directory, 'native'),
    XDG_RUNTIME_DIR: join(lab.directory, 'xdg'),
    XDG_CONFIG_HOME: join(lab.directory, 'xdg'),
    XDG_CACHE_HOME: join(lab.directory, 'xdg'),
    TMPDIR: join(lab.directory, 'tmp'),
  });
  /** Starts a run whose data comes from this machine, passes through hosts, and returns to this machine. */
  const start = (words: string, limits = '') => {
    const script = `${limits} cd notes && exec rdpipe ${words} > ../out 2> ../err`;
    const running = lab.start(script, { stdin: 'open', env: environment() });
    running.write('begun\n');
    return running;
  };
  const noted = (options: string) => start(`${options} --agent '${agent()}' --encrypt always h1:cat h2:cat`);
  const keys = () => keysIn(readFileSync(told(), 'utf8'));
  const begun = () => eventually(() => expect(readFileSync(join(lab.directory, 'out'), 'utf8')).to.equal('begun\n'));

  for (const options of ['--ssh openssh -vv', '--ssh ssh2 -vv', '--ssh openssh --json']) {
    it(`is in no command line, environment, file or message (${options})`, async () => {
      const running = noted(options);
      await begun();
      expect(keys()).to.have.length(3);
      const forms = keys().flatMap(formsOf);
      const seen = visibleTexts().filter((text) => forms.some((form) => text.includes(form)));
      const during = filesWith(forms, lab.directory, lab.homes);
      running.kill('SIGINT');
      expect((await running.result).status).to.equal(130);
      expect([...during, ...filesWith(forms, lab.directory, lab.homes)]).to.deep.equal([]);
      expect(seen).to.deep.equal([]);
      expect(statSync(join(lab.directory, 'err')).size).to.be.greaterThan(100);
    });
  }

  it('is not generated for a dry run', async () => {
    const result = await lab.sh(`rdpipe -n --json --agent '${agent()}' h1:cat h2:cat`, environment());
    expect(result.status, result.stderr).to.equal(0);
    expect(readFileSync(told(), 'utf8')).to.include('"finish"');
    expect(keys()).to.deep.equal([]);
    expect(result.text + result.stderr).not.to.match(/\b[0-9a-f]{64}\b/i);
  });

  it('does not stay in the memory of programs in its original form', async function () {
    needsRoot(this);
    const running = noted('--ssh openssh');
    await begun();
    const programs = lab.processes().filter(({ program }) => program === 'rdsend' || program === 'rdrecv');
    expect(programs).to.have.length(6);
    const holdersOf = (form: 'hex' | 'utf8') =>
      programs.filter(({ pid }) => keys().some((key) => memoryHas(pid, Buffer.from(key, form))));
    expect(holdersOf('hex'), 'each can dial again').to.have.length(6);
    expect(holdersOf('utf8')).to.deep.equal([]);
    running.kill('SIGINT');
    await running.result;
  });

  it('is in no core file, since the programs leave none', async function () {
    needsSightOfPrograms(this);
    const control = await lab.sh("ulimit -c unlimited; cd notes; sh -c 'kill -ABRT $$'; ls; rm -f core*");
    needs(this, control.text.includes('core') ? undefined : 'no core is written to the working directory here');
    const running = start('h1:cat', 'ulimit -c unlimited;');
    await begun();
    const programs = ofThisMachine(lab.processes());
    expect(new Set(programs.map(({ program }) => program))).to.deep.equal(new Set(['rdsend', 'rdrecv', 'rdstage']));
    for (const { pid } of programs) signalProcess(pid, 'SIGABRT');
    expect((await running.result).status).to.equal(125);
    expect(readdirSync(join(lab.directory, 'notes'))).to.deep.equal([]);
  });

  const ofThisMachine = (processes: readonly MarkedProcess[]) =>
    processes.filter((process) => PROGRAMS.has(process.program) && process.home === lab.homes && isAgent(process));
});

const PROGRAMS: ReadonlySet<string> = new Set(['rdsend', 'rdrecv', 'rdstage']);

/** True for an agent, but not for the `rdstage --die-with-parent` above ssh, which receives no key. */
function isAgent({ command }: MarkedProcess): boolean {
  return !command.includes('--die-with-parent');
}

/** Distinct keys: both ends of a hop get the same one. */
function keysIn(text: string): string[] {
  return [...new Set([...text.matchAll(/"key":"([0-9a-f]{64})"/g)].map((match) => match[1] ?? ''))];
}

function formsOf(key: string): string[] {
  const bytes = Buffer.from(key, 'hex');
  return [key, key.toUpperCase(), bytes.toString('latin1'), bytes.toString('base64').slice(0, 43)];
}

/** Files below these directories that contain one of the forms, except the agents' notes. */
function filesWith(forms: readonly string[], ...directories: readonly string[]): string[] {
  return directories
    .flatMap((directory) =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name)),
    )
    .filter((path) => !path.endsWith('/told') && statSync(path, { throwIfNoEntry: false })?.isFile())
    .filter((path) => {
      const text = readFileSync(path, 'latin1');
      return forms.some((form) => text.includes(form));
    });
}

/** Searches the memory that a process may write to: heap, stack and its own mappings. */
function memoryHas(pid: number, wanted: Buffer): boolean {
  const areas = readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .filter((line) => /^\S+ rw/.test(line));
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return areas.some((area) => areaHas(memory, area, wanted));
  } finally {
    closeSync(memory);
  }
}

function areaHas(memory: number, area: string, wanted: Buffer): boolean {
  const [from = 0, to = 0] = (area.split(' ')[0] ?? '').split('-').map((address) => Number.parseInt(address, 16));
  const bytes = Buffer.alloc(to - from);
  try {
    readSync(memory, bytes, 0, bytes.length, from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error; // an unreadable area, such as the kernel's
  }
  return bytes.includes(wanted);
}
