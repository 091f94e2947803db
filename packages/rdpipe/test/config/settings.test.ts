import { expect } from 'chai';
import { parseConfig } from '../../src/config/file.ts';
import { makeSettings } from '../../src/config/settings.ts';
import { forHost, type Settings } from '../../src/model/settings.ts';
import { parseArgv } from '../../src/parse/argv.ts';
import { parseHostRef } from '../../src/parse/host-ref.ts';
import { usageErrorOf } from '../parse/helpers.ts';

function settingsFrom(flags: string, file = ''): Settings {
  const invocation = parseArgv([...flags.split(' ').filter((word) => word !== ''), 'h1:a']);
  if (invocation.kind !== 'run') throw new Error(invocation.kind);
  return makeSettings(invocation.options, parseConfig(file, 'c.toml'));
}

const host = parseHostRef;

describe('settings', () => {
  it('has defaults', () => {
    expect(settingsFrom('')).to.deep.include({
      verbosity: 0,
      quiet: false,
      json: false,
      keyFile: undefined,
      dropSlow: false,
      dryRun: false,
      ports: [0, 0],
      data: { all: undefined, hosts: new Map() },
      transport: 'auto',
      relay: 'auto',
      encrypt: 'auto',
      compressLevel: 0,
      jobs: 0,
      limitBytesPerS: 0,
      numa: 'auto',
      congestion: 'auto',
      streams: 0,
      bufferBytes: 8 * 1024 ** 2,
      poll: false,
      ok: { all: [], stages: new Map() },
      lenient: false,
      require: 'all',
      failFast: false,
      order: 'written',
      gather: 'lines',
      fold: false,
      prefix: true,
      shell: { all: 'sh', hosts: new Map() },
      sudo: { all: false, hosts: new Map() },
      launcher: { all: { kind: 'ssh' }, hosts: new Map() },
      agent: { all: undefined, hosts: new Map() },
      stderr: 'auto',
      progress: 'auto',
      reportFile: undefined,
      sizeBytes: undefined,
      rounds: 5,
      stdin: 'auto',
      connectTimeoutMs: 10_000,
      stallTimeoutMs: 60_000,
      leaseMs: 90_000,
      timeoutMs: undefined,
      ssh: 'auto',
      sshProgram: undefined,
      persistS: 0,
      connects: 8,
      sshConfigFile: undefined,
      sshOptions: [],
      namedHosts: [],
      groups: new Map(),
      recursive: false,
      archive: false,
      acls: false,
      xattrs: false,
      oneFileSystem: false,
      remove: false,
      removeMost: undefined,
      patterns: [],
      checksum: false,
      update: false,
      verify: false,
      sync: true,
      partial: true,
      inPlace: false,
      linkDests: [],
      makeParents: false,
      removeSourceFiles: false,
      filesFrom: undefined,
      fromNul: false,
    });
  });

  const FILE = `
    [defaults]
    encrypt = "never"
    compress = "zstd:7"
    limit = "1MiB/s"
    jobs = 2
    numa = "off"
    report = "a.html"
    buffer = "1MiB"
    shell = "dash"
    hostname = "10.0.0.8"
    stall-timeout = 5
    agent = "/all"
    [host.h1]
    data = "10.0.0.1"
    shell = "bash"
    sudo = true
    agent = "/one"
  `;

  it('prefers the config file to the defaults', () => {
    const settings = settingsFrom('', FILE);
    expect(settings).to.deep.include({
      encrypt: 'never',
      compressLevel: 7,
      jobs: 2,
      limitBytesPerS: 1024 ** 2,
      numa: 'off',
      reportFile: 'a.html',
      bufferBytes: 1024 ** 2,
      stallTimeoutMs: 5000,
      leaseMs: 35_000,
    });
    expect([forHost(settings.shell, host('h1')), forHost(settings.shell, host('h2'))]).to.deep.equal(['bash', 'dash']);
    expect([forHost(settings.sudo, host('ann@h1')), forHost(settings.sudo, host('h2'))]).to.deep.equal([true, false]);
    expect([forHost(settings.agent, host('h1')), forHost(settings.agent, host('h2'))]).to.deep.equal(['/one', '/all']);
    expect(forHost(settings.data, host('h1'))).to.deep.equal({ address: '10.0.0.1', others: [], why: 'config file' });
    expect(forHost(settings.data, host(''))).to.deep.equal({ address: '10.0.0.8', others: [], why: 'config file' });
  });

  it('prefers flags to the config file', () => {
    const flags =
      '--encrypt auto --buffer 2MiB --shell zsh --shell h2=fish --stall-timeout 7 --data h1=10.0.0.2 -H 10.0.0.9 --agent /flag';
    const settings = settingsFrom(`${flags} --compress none --limit none --jobs 0 --numa auto --report b`, FILE);
    expect(settings).to.deep.include({
      encrypt: 'auto',
      compressLevel: 0,
      jobs: 0,
      limitBytesPerS: 0,
      numa: 'auto',
      reportFile: 'b',
      bufferBytes: 2 * 1024 ** 2,
      stallTimeoutMs: 7000,
      leaseMs: 37_000,
    });
    expect([forHost(settings.shell, host('h1')), forHost(settings.shell, host('h2'))]).to.deep.equal(['zsh', 'fish']);
    expect(forHost(settings.agent, host('h1'))).to.equal('/flag');
    expect(forHost(settings.data, host('h1'))).to.deep.equal({ address: '10.0.0.2', others: [], why: '--data' });
    expect(forHost(settings.data, host(''))).to.deep.equal({ address: '10.0.0.9', others: [], why: '--hostname' });
  });

  it("keeps a host's settings from the config file when a flag is for another host", () => {
    const settings = settingsFrom('--shell h2=fish --sudo h2', FILE);
    expect([forHost(settings.shell, host('h1')), forHost(settings.shell, host('h2'))]).to.deep.equal(['bash', 'fish']);
    expect([forHost(settings.sudo, host('h1')), forHost(settings.sudo, host('h2'))]).to.deep.equal([true, true]);
  });

  it('prefers settings for a user on a host', () => {
    const settings = settingsFrom('--shell h1=bash --shell ann@h1=zsh');
    expect(forHost(settings.shell, host('ann@h1'))).to.equal('zsh');
    expect(forHost(settings.shell, host('bob@h1'))).to.equal('bash');
  });

  it('combines statuses that count as success', () => {
    const { ok } = settingsFrom('--ok 1 --ok 2=3,4 --ok 2=5 --ok 6');
    expect(ok).to.deep.equal({ all: [1, 6], stages: new Map([[2, [3, 4, 5]]]) });
  });

  it('keeps the hosts named by flags, to check them against the pipeline', () => {
    expect(settingsFrom('--data h1=::1 --shell bash --shell h2=sh --sudo h3').namedHosts).to.deep.equal([
      { flag: '--data', host: 'h1' },
      { flag: '--shell', host: 'h2' },
      { flag: '--sudo', host: 'h3' },
    ]);
    expect(settingsFrom('--relay ann@gw --data gw=::1 --agent ann@gw=/a').namedHosts).to.deep.equal([]);
  });

  it('takes verbosity from the config file, unless a flag sets it', () => {
    const loud = (flags: string, file: string) => {
      const { verbosity, quiet } = settingsFrom(flags, `[defaults]\n${file}`);
      return [verbosity, quiet];
    };
    expect(loud('', 'verbose = true')).to.deep.equal([1, false]);
    expect(loud('', 'verbose = 2')).to.deep.equal([2, false]);
    expect(loud('-v', 'verbose = 2')).to.deep.equal([1, false]);
    expect(loud('-q', 'verbose = 2')).to.deep.equal([0, true]);
    expect(loud('', 'quiet = true')).to.deep.equal([0, true]);
    expect(loud('-vv', 'quiet = true')).to.deep.equal([2, false]);
    expect(loud('--no-quiet', 'quiet = true')).to.deep.equal([0, false]);
    expect(loud('--no-quiet', 'verbose = 2')).to.deep.equal([2, false]);
  });

  it('takes standard input from the config file, unless a flag sets it', () => {
    expect(settingsFrom('', '[defaults]\nstdin = "none"').stdin).to.equal('none');
    expect(settingsFrom('--stdin auto', '[defaults]\nstdin = "none"').stdin).to.equal('auto');
  });

  it('can switch off flags of the config file', () => {
    const file = '[defaults]\npoll = true\nlenient = true';
    expect(settingsFrom('--no-poll', file)).to.include({ poll: false, lenient: true });
    expect(settingsFrom('--no-lenient', file)).to.include({ poll: true, lenient: false });
  });

  it('counts at most two -v', () => {
    expect(['', '-v', '-vv', '-vvv'].map((flags) => settingsFrom(flags).verbosity)).to.deep.equal([0, 1, 2, 2]);
  });

  it('requires a lease longer than the stall timeout', () => {
    const message = '--lease must be longer than --stall-timeout';
    expect(usageErrorOf(() => settingsFrom('--lease 60')).message).to.equal(message);
    expect(usageErrorOf(() => settingsFrom('--stall-timeout 50 --lease 20')).message).to.equal(message);
    expect(settingsFrom('--lease 60.001').leaseMs).to.equal(60_001);
  });
});
