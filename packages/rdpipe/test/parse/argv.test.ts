import { expect } from 'chai';
import fc from 'fast-check';
import { UsageError } from '../../src/model/errors.ts';
import { flagTexts } from '../../src/model/option-row.ts';
import { optionsOf, type Topic } from '../../src/model/options.ts';
import type { Options } from '../../src/model/settings.ts';
import { VERSION } from '../../src/model/version.ts';
import { parseArgv, parseSshArgv } from '../../src/parse/argv.ts';
import { binary, usageErrorOf } from './helpers.ts';

describe('argv', () => {
  it('ends the options at the first stage', () => {
    const words = ['-v', '-p', '7000-7010', 'h1:a', '-v', '--', '--json'];
    expect(parseArgv(words)).to.deep.equal({
      kind: 'run',
      options: { verbosity: 1, ports: [7000, 7010] },
      optionWords: ['-v', '-p', '7000-7010'],
      stageWords: ['h1:a', '-v', '--', '--json'],
    });
  });

  it('treats -- as the end of the options', () => {
    expect(parseArgv(['-q', '--', '-h1:a'])).to.deep.equal({
      kind: 'run',
      options: { quiet: true },
      optionWords: ['-q', '--'],
      stageWords: ['-h1:a'],
    });
  });

  it('keeps the bytes of stages', () => {
    const invocation = parseArgv(['h1:\xff\xfe']);
    expect(invocation).to.have.deep.property('stageWords', ['h1:\xff\xfe']);
  });

  const OPTIONS: readonly (readonly [readonly string[], Options])[] = [
    [['-vv'], { verbosity: 2 }],
    [['--verbose', '-v', '--verbose'], { verbosity: 2 }],
    [['-n', '--lenient', '--json', '-q'], { dryRun: true, lenient: true, json: true, quiet: true }],
    [['-p7000', '-H', '10.0.0.9'], { ports: [7000, 7000], hostname: '10.0.0.9' }],
    [['--port=7000', '--hostname=gw'], { ports: [7000, 7000], hostname: 'gw' }],
    [
      ['--data', 'h1=10.0.0.1', '--data', 'ann@[::1]=fe80::2,[fe80::3]'],
      {
        data: [
          { host: 'h1', value: ['10.0.0.1'] },
          { host: 'ann@::1', value: ['fe80::2', 'fe80::3'] },
        ],
      },
    ],
    [['--transport', 'rdma', '--encrypt', 'never', '--poll'], { transport: 'rdma', encrypt: 'never', poll: true }],
    [
      ['--no-poll', '--lenient', '--no-lenient', '--quiet', '--no-quiet'],
      { poll: false, lenient: false, quiet: false },
    ],
    [['--no-poll', '--poll'], { poll: true }],
    [['--compress', 'zstd:19', '--jobs', '4'], { compressLevel: 19, jobs: 4 }],
    [
      ['--limit=1.5G', '--numa', 'off', '--report', 'r.html'],
      { limitBytesPerS: 1.5e9, numa: 'off', reportFile: 'r.html' },
    ],
    [['--buffer', '16MiB', '--size', '1.5G'], { bufferBytes: 16 * 1024 ** 2, sizeBytes: 1.5e9 }],
    [
      ['--ok', '1,2', '--ok', '3=4'],
      {
        ok: [
          { stage: undefined, statuses: [1, 2] },
          { stage: 3, statuses: [4] },
        ],
      },
    ],
    [
      ['--shell', 'bash', '--shell', 'h1=zsh', '--shell', '=dash'],
      {
        shell: [
          { host: undefined, value: 'bash' },
          { host: 'h1', value: 'zsh' },
          { host: '', value: 'dash' },
        ],
      },
    ],
    [
      ['--sudo', 'h1', '--sudo', 'ann@h2'],
      {
        sudo: [
          { host: 'h1', value: true },
          { host: 'ann@h2', value: true },
        ],
      },
    ],
    [['--sudo', binary('rechner-ü')], { sudo: [{ host: 'rechner-ü', value: true }] }],
    [['--shell', binary('ü=zsh')], { shell: [{ host: 'ü', value: 'zsh' }] }],
    [
      ['--stdin', 'none', '--stderr', 'raw', '--progress', 'plain'],
      { stdin: 'none', stderr: 'raw', progress: 'plain' },
    ],
    [
      ['--connect-timeout', '1', '--stall-timeout', '2', '--lease', '3.5', '--timeout', '4'],
      { connectTimeoutMs: 1000, stallTimeoutMs: 2000, leaseMs: 3500, timeoutMs: 4000 },
    ],
    [
      ['--ssh', 'ssh2', '-F', '/etc/x', '-o', 'Port=2222', '-oUser=ann'],
      { ssh: 'ssh2', sshConfigFile: '/etc/x', sshOptions: ['Port=2222', 'User=ann'] },
    ],
    [
      ['--agent', '/opt/rdstage', '--config', binary('/tmp/ü.toml')],
      { agent: [{ host: undefined, value: '/opt/rdstage' }], configFile: '/tmp/ü.toml' },
    ],
  ];
  for (const [words, options] of OPTIONS) {
    it(`reads ${words.join(' ')}`, () => {
      expect(parseArgv([...words, 'h1:a'])).to.have.deep.property('options', options);
    });
  }

  const WRONG: readonly (readonly [readonly string[], string])[] = [
    [['--bogus', 'h1:a'], "unknown option '--bogus' (rdpipe --help shows the options)"],
    [['--jsno', 'h1:a'], "unknown option '--jsno' (Did you mean --json?) (rdpipe --help shows the options)"],
    ...Object.entries({
      '-l': 'use user@host:command',
      '-lann': 'use user@host:command',
      '-i': 'use -o IdentityFile=FILE',
      '-J': 'use -o ProxyJump=HOST',
      '-4': 'use -o AddressFamily=inet',
      '-6': 'use -o AddressFamily=inet6',
      '-A': 'use -o ForwardAgent=yes',
      '-P': "for ssh's port use -o Port=PORT",
      '-C': 'use --compress zstd',
      '-r': 'to copy directories use rdcp -r',
      '-t': 'commands in a pipeline have no terminal',
    }).map(
      ([option, advice]) =>
        [[option, 'h1:a'], `unknown option '${option}' (${advice}; rdpipe --help shows the options)`] as const,
    ),
    [
      ['doctor', '-l', 'ann', 'h1'],
      "unknown option '-l' (use user@host:command; rdpipe doctor --help shows the options)",
    ],
    [['--compress', 'lz4', 'h1:a'], "--compress: 'lz4' is neither none nor zstd[:LEVEL] (1 to 19)"],
    [['--jobs', '65', 'h1:a'], "--jobs: '65' is not a number of threads (0 to 64)"],
    [['--limit', 'fast', 'h1:a'], "--limit: 'fast' is not a rate (write 200M, 200MiB/s, 1Gbit/s, or none)"],
    [['--numa', '0', 'h1:a'], "--numa: '0' is not one of: auto, off"],
    [['--report', '', 'h1:a'], '--report: the file name is empty'],
    [['--no-json', 'h1:a'], "unknown option '--no-json' (Did you mean --json?) (rdpipe --help shows the options)"],
    [['-p'], "option '-p, --port <value>' argument missing (rdpipe --help shows the options)"],
    [['-p', '22', 'h1:a'], '--port: 22 is the port of ssh, not one for data (to log in on it use -o Port=22)'],
    [['-p', '0', 'h1:a'], "--port: '0' is not a port or a range of ports (1 to 65535, 7000-7010)"],
    [['--transport', 'udp', 'h1:a'], "--transport: 'udp' is not one of: auto, rdma, tcp"],
    [['--data', '10.0.0.1', 'h1:a'], "--data: '10.0.0.1' is not HOST=ADDR[,...]"],
    [['--data', '=10.0.0.1', 'h1:a'], "--data: '=10.0.0.1' names no host (use --hostname for this machine)"],
    [['--data', 'h 1=10.0.0.1', 'h1:a'], "--data: host 'h 1' contains white space"],
    [['--sudo', '', 'h1:a'], '--sudo: the host is empty'],
    [['--ok', '0=1', 'h1:a'], "--ok: '0' is not the number of a stage"],
    [['--ok', 'x', 'h1:a'], "--ok: 'x' is not an exit status (0 to 255; several: 1,2)"],
    [['--shell', 'h1=', 'h1:a'], '--shell: the shell is empty'],
    [['-o', '', 'h1:a'], '-o: the ssh option is empty'],
    [['--config', '\xff', 'h1:a'], "--config: '\ufffd' is not valid UTF-8"],
    [['doctor', '--lenient', 'h1'], "unknown option '--lenient' (rdpipe doctor --help shows the options)"],
    [['--lenient', 'doctor', 'h1'], "unknown option '--lenient' (rdpipe doctor --help shows the options)"],
    [['help', 'rdtop'], "there is no help for 'rdtop' (did you mean rdcp?; rdpipe help lists the topics)"],
    [['doctor', '-qv', 'h1'], '--quiet and --verbose cannot be combined'],
    [['-q', '-v', 'h1:a'], '--quiet and --verbose cannot be combined'],
  ];
  for (const [words, message] of WRONG) {
    it(`refuses ${words.join(' ')}`, () => {
      expect(usageErrorOf(() => parseArgv(words)).message).to.equal(message);
    });
  }

  const HELPS: readonly (readonly [readonly string[], Topic | undefined])[] = [
    [['--help', 'h1:a'], 'run'],
    [['doctor', '--help'], 'doctor'],
    [['-h', 'doctor', 'h1'], 'doctor'],
    [['bench', '-h'], 'bench'],
    [['help', 'rdpipe'], 'run'],
    [['help', 'doctor'], 'doctor'],
    [['help', 'bench'], 'bench'],
    [['demo', '--help'], undefined],
    [['-h', 'demo'], undefined],
    [['help', 'demo'], undefined],
  ];
  for (const [words, topic] of HELPS) {
    it(`gives help for ${words.join(' ')} within 80 columns that shows every option`, () => {
      const invocation = parseArgv(words);
      if (invocation.kind !== 'help') throw new Error(`not help: ${invocation.kind}`);
      const lines = invocation.text.split('\n');
      expect(lines.filter((line) => line.length > 80)).to.deep.equal([]);
      expect(lines.at(-1)).to.equal('');
      for (const [, row] of topic === undefined ? [] : optionsOf(topic)) {
        for (const flag of flagTexts(row)) expect(invocation.text).to.contain(flag);
        expect(invocation.text.replace(/\s+/g, ' ')).to.contain(row.help);
      }
    });
  }

  const DOCTORS: readonly (readonly [readonly string[], Options, readonly string[]])[] = [
    [['doctor', 'h1'], {}, ['h1']],
    [['-F', 'x', 'doctor', '--json', 'h1', '-q', 'h2'], { sshConfigFile: 'x', json: true, quiet: true }, ['h1', 'h2']],
    [['doctor', '--', '-h1'], {}, ['-h1']],
    [
      ['doctor', '--transport', 'tcp', '--sudo', 'h1', ':'],
      { transport: 'tcp', sudo: [{ host: 'h1', value: true }] },
      [':'],
    ],
  ];
  for (const [words, options, hostWords] of DOCTORS) {
    it(`reads ${words.join(' ')}`, () =>
      expect(parseArgv(words)).to.deep.equal({ kind: 'doctor', options, hostWords }));
  }

  it('reads the options of a measurement between two hosts', () => {
    const words = ['bench', '--size', '1GiB', 'h1', '--rounds', '3', ':'];
    const options = { sizeBytes: 1024 ** 3, rounds: 3 };
    expect(parseArgv(words)).to.deep.equal({ kind: 'bench', options, hostWords: ['h1', ':'] });
    for (const rounds of ['0', '1001', '-1', '2.5', 'x'])
      expect(usageErrorOf(() => parseArgv(['bench', '--rounds', rounds])).message).to.match(
        /^--rounds: .* \(1 to 1000\)$/,
      );
  });

  it('accepts a stage on a host called doctor', () =>
    expect(parseArgv(['doctor:true'])).to.have.property('kind', 'run'));

  it('gives the version', () => {
    expect(parseArgv(['-V'])).to.deep.equal({ kind: 'version', text: `rdpipe ${VERSION}\n`, parts: false });
  });

  it('recognizes the subcommand', () => {
    expect(parseArgv(['demo', '--x'])).to.deep.equal({ kind: 'demo', words: ['--x'] });
    expect(parseArgv(['-v', 'demo:x'])).to.have.property('kind', 'run');
  });

  it('throws nothing but usage errors, and loses no word', () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('-v', '--', '-p', '7', '--ok', '1', 'h1:a', '-o'),
    );
    fc.assert(
      fc.property(fc.array(word.map(binary)), (words) => {
        try {
          const invocation = parseArgv(words);
          if (invocation.kind === 'run') {
            expect([...invocation.optionWords, ...invocation.stageWords]).to.deep.equal(words);
          }
        } catch (error) {
          expect(error).to.be.instanceOf(UsageError);
        }
      }),
    );
  });

  it('names the equals sign that an option of rdssh lacks', () => {
    expect(() => parseSshArgv(['--compress', '--', 'command', '', 'zstd', 'h1'])).to.throw(
      UsageError,
      "--compress needs a value after '=' (--compress=VALUE)",
    );
    expect(parseSshArgv(['--compress', 'zstd', '--', 'command', '', 'h1']).kind).to.equal('ssh');
  });
});
