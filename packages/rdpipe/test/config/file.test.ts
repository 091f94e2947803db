import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { configKeys, parseConfig, readConfigFile } from '../../src/config/file.ts';
import { UsageError } from '../../src/model/errors.ts';
import { optionsOf, type Topic } from '../../src/model/options.ts';
import { usageErrorOf } from '../parse/helpers.ts';

describe('config file', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rdpipe-config-'));
  });
  after(() => rm(directory, { recursive: true }));

  it('reads defaults and hosts', () => {
    const text = `
      [defaults]
      port = "7000-7010"
      buffer = "16MiB"
      stall-timeout = 20
      lease = "90.5"
      encrypt = "always"
      transport = "rdma"
      poll = true
      compress = "zstd"
      jobs = 3
      ssh-program = "/opt/ssh"
      persist = 60
      limit = 1e6
      numa = "off"
      report = "run.html"
      lenient = true
      verbose = 2
      stdin = "none"

      [host.h1]
      data = "10.0.0.1"
      sudo = true
      shell = "bash"
      agent = "/opt/rdstage"

      [host."ann@[2001:db8::1]"]
      sudo = false
    `;
    const { defaults, hosts } = parseConfig(text, 'x');
    expect(defaults).to.deep.equal({
      ports: [7000, 7010],
      bufferBytes: 16 * 1024 ** 2,
      stallTimeoutMs: 20_000,
      leaseMs: 90_500,
      encrypt: 'always',
      transport: 'rdma',
      poll: true,
      compressLevel: 1,
      jobs: 3,
      sshProgram: '/opt/ssh',
      persistS: 60,
      limitBytesPerS: 1e6,
      numa: 'off',
      reportFile: 'run.html',
      lenient: true,
      verbosity: 2,
      stdin: 'none',
    });
    expect([...hosts]).to.deep.equal([
      ['h1', { data: ['10.0.0.1'], sudo: true, shell: 'bash', agent: '/opt/rdstage' }],
      ['ann@2001:db8::1', { sudo: false }],
    ]);
  });

  it('reads a host beyond ASCII', () => {
    const { hosts } = parseConfig('[host."rechner-ü"]\nsudo = true', 'x');
    expect([...hosts.keys()]).to.deep.equal(['rechner-ü']);
  });

  it('reads an empty file as no settings', () => {
    expect(parseConfig('', 'x')).to.deep.equal({ defaults: {}, hosts: new Map(), groups: new Map() });
  });

  const WRONG: readonly (readonly [string, string])[] = [
    ['[defaults]\nbufer = "8M"', 'c.toml: unknown key bufer in [defaults] (did you mean buffer?)'],
    // Options that delete files are checked against --no-sync only on the command line.
    [
      '[defaults]\nsync = false',
      `c.toml: unknown key sync in [defaults] (its keys: ${configKeys('defaults').join(', ')})`,
    ],
    [
      '[defaults]\nzzzzzzzz = "8M"',
      `c.toml: unknown key zzzzzzzz in [defaults] (its keys: ${configKeys('defaults').join(', ')})`,
    ],
    ['buffer = "8M"', 'c.toml: buffer is outside a section (put it under [defaults])'],
    ['[defaults]\nsudo = true', 'c.toml: unknown key sudo in [defaults] (sudo belongs in [host.NAME])'],
    ['[host]\nh1 = 3', 'c.toml: [host] h1: is not a table'],
    ['[default]', 'c.toml: unknown section or key default (the sections are [defaults], [host.NAME] and [groups])'],
    ['[defaults]\nverbose = 3', 'c.toml: [defaults] verbose: is not one of: true, false, 1, 2'],
    ['[defaults]\nverbose = true\nquiet = true', 'c.toml: [defaults] quiet and verbose cannot be combined'],
    ['[host.h1]\ndate = "x"', 'c.toml: unknown key date in [host.h1] (did you mean data?)'],
    [
      '[defaults]\nport = "x"',
      "c.toml: [defaults] port: 'x' is not a port or a range of ports (1 to 65535, 7000-7010)",
    ],
    ['[defaults]\ntransport = "udp"', "c.toml: [defaults] transport: 'udp' is not one of: auto, rdma, tcp"],
    ['[defaults]\ncompress = "gzip"', "c.toml: [defaults] compress: 'gzip' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['[defaults]\njobs = -1', "c.toml: [defaults] jobs: '-1' is not a number of threads (0 to 64)"],
    ['[defaults]\nlimit = "0"', "c.toml: [defaults] limit: '0' is not a usable rate (1 B/s to 1 PiB/s, or none)"],
    ['[defaults]\nnuma = "on"', "c.toml: [defaults] numa: 'on' is not one of: auto, off"],
    ['[defaults]\nreport = ""', 'c.toml: [defaults] report: the file name is empty'],
    ['[defaults]\nlenient = "yes"', 'c.toml: [defaults] lenient: is neither true nor false'],
    ['[defaults]\nbuffer = true', 'c.toml: [defaults] buffer: is neither text nor a number'],
    ['[host.h1]\ndata = "a b"', "c.toml: [host.h1] data: 'a b' is not an address or host name"],
    ['[host."-x"]\nsudo = true', "c.toml: [host.-x]: host -x begins with '-'"],
    ['host = 3', 'c.toml: host: is not a table of hosts'],
    ['defaults = 3', 'c.toml: defaults: is not a table'],
  ];
  for (const [text, message] of WRONG) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(usageErrorOf(() => parseConfig(text, 'c.toml')).message).to.equal(message);
    });
  }

  /** Options that are not keys, with the reason. */
  const NO_KEYS: Readonly<Record<string, string>> = {
    'dry-run': 'it is what one call is for',
    json: 'its reader is the program that makes the call, and no flag takes it back',
    ok: 'which statuses are success is a matter of the commands of one pipeline',
    size: 'it is the size of one stream',
    config: 'it names this file',
    version: 'it is what one call is for',
    help: 'it is what one call is for',
  };

  it('has every long option except those of a single call, and nothing else', () => {
    const namesOf = (topic: Topic) =>
      optionsOf(topic).flatMap(([, { long }]) => (long === undefined ? [] : [long.replace(/^--/, '')]));
    const options = namesOf('run');
    const keys = [...configKeys('defaults'), ...configKeys('host')];
    expect(keys.filter((key) => !options.includes(key) && !namesOf('copy').includes(key))).to.deep.equal([]);
    expect(options.filter((option) => !keys.includes(option))).to.have.members(Object.keys(NO_KEYS));
  });

  it('names the line that is not TOML', () => {
    expect(usageErrorOf(() => parseConfig('\n[defaults', 'c.toml')).message).to.match(/^c\.toml:2: [^\n]+$/);
  });

  it('looks in XDG_CONFIG_HOME, and accepts a missing file', async () => {
    const environment = { XDG_CONFIG_HOME: directory };
    expect((await readConfigFile(undefined, environment)).defaults).to.deep.equal({});
    await mkdir(join(directory, 'rdpipe'), { mode: 0o700 });
    await writeFile(join(directory, 'rdpipe', 'config.toml'), '[defaults]\nshell = "bash"\n', { mode: 0o600 });
    expect((await readConfigFile(undefined, environment)).defaults).to.deep.equal({ shell: 'bash' });
  });

  it('requires a file that was named', async () => {
    const path = join(directory, 'none.toml');
    const error = await readConfigFile(path, {}).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(UsageError)
      .with.property('message', `cannot read the config file ${path}: no such file or directory`);
  });
});

describe('any config file', () => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant([]));
  const key = fc.constantFrom(
    'port',
    'hostname',
    'buffer',
    'shell',
    'lease',
    'ssh',
    'agent',
    'data',
    'sudo',
    '__proto__',
    'x',
  );
  const tables = fc.dictionary(fc.constantFrom('defaults', 'host'), fc.dictionary(key, value));

  it('is read, or a usage error that names it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), tables.map(tomlOf)), (text) => {
        try {
          parseConfig(text, 'the-file');
        } catch (error) {
          expect(error).to.be.instanceOf(UsageError);
          expect(error).to.have.property('message').that.includes('the-file');
        }
      }),
      { numRuns: 500 },
    );
  });

  it('returns the values that were written', () => {
    const seconds = fc.integer({ min: 1, max: 1_000_000 });
    // Port 22 is refused: it is ssh's.
    const ports = fc.integer({ min: 1, max: 65535 }).filter((port) => port !== 22);
    fc.assert(
      fc.property(seconds, fc.boolean(), ports, (lease, lenient, port) => {
        const { defaults } = parseConfig(tomlOf({ defaults: { lease, lenient, port } }), 'the-file');
        expect(defaults).to.deep.equal({ leaseMs: lease * 1000, lenient, ports: [port, port] });
      }),
    );
  });
});

function tomlOf(tables: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string {
  const section = ([name, values]: readonly [string, Readonly<Record<string, unknown>>]) =>
    [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)].join('\n');
  return Object.entries(tables).map(section).join('\n');
}
