import { expect } from 'chai';
import fc from 'fast-check';
import { UsageError } from '../../src/model/errors.ts';
import { flagTexts } from '../../src/model/option-row.ts';
import { optionsOf } from '../../src/model/options.ts';
import type { Options } from '../../src/model/settings.ts';
import { VERSION } from '../../src/model/version.ts';
import { type CopyInvocation, parseArgv, parseCopyArgv } from '../../src/parse/argv.ts';
import { binary, usageErrorOf } from './helpers.ts';

function copyOf(words: readonly string[]): Extract<CopyInvocation, { kind: 'copy' }> {
  const invocation = parseCopyArgv(words);
  if (invocation.kind !== 'copy') throw new Error(invocation.kind);
  return invocation;
}

describe("rdcp's options", () => {
  it('may come before and after paths', () => {
    const words = ['-r', 'a', '-v', 'h1:b', '-n'];
    const options = { recursive: true, verbosity: 1, dryRun: true };
    expect(parseCopyArgv(words)).to.deep.include({ kind: 'copy', options, words, pathWords: ['a', 'h1:b'] });
  });

  it('end at --, and - is a path', () => {
    expect(copyOf(['-q', '--', '-r', '-']).pathWords).to.deep.equal(['-r', '-']);
    expect(copyOf(['-', 'h1:x']).pathWords).to.deep.equal(['-', 'h1:x']);
  });

  const OPTIONS: readonly (readonly [string, Options])[] = [
    ['-aAXx', { archive: true, acls: true, xattrs: true, oneFileSystem: true }],
    ['--delete --max-delete 0', { remove: true, removeMost: 0 }],
    ['-c --verify --inplace --mkpath', { checksum: true, verify: true, inPlace: true, makeParents: true }],
    ['--no-sync', { sync: false }],
    ['--no-partial', { partial: false }],
    ['--partial', { partial: true }],
    ['--files-from - -0 --remove-source-files', { filesFrom: '-', fromNul: true, removeSourceFiles: true }],
    [
      '--jobs 3 --limit 1M -p 7000 -o Port=22',
      { jobs: 3, limitBytesPerS: 1e6, ports: [7000, 7000], sshOptions: ['Port=22'] },
    ],
    ['-H gw --sudo h1', { hostname: 'gw', sudo: [{ host: 'h1', value: true }] }],
  ];
  for (const [words, options] of OPTIONS) {
    it(`are read: ${words}`, () => expect(copyOf([...words.split(' '), 'a', 'b']).options).to.deep.equal(options));
  }

  it('keep the order and the bytes of patterns', () => {
    const words = ['--include', '*.c', '--exclude=\xff*', '--exclude-from', binary('ü'), '--include', '-x', 'a', 'b'];
    expect(copyOf(words).options).to.deep.equal({
      patterns: [
        { kind: 'include', pattern: '*.c' },
        { kind: 'exclude', pattern: '\xff*' },
        { kind: 'file', file: 'ü' },
        { kind: 'include', pattern: '-x' },
      ],
    });
  });

  it('have a -h that asks for help only without paths', () => {
    for (const words of [['-h'], ['--help', 'a', 'b'], ['-avh']])
      expect(parseCopyArgv(words).kind, words.join(' ')).to.equal('help');
    expect(copyOf(['-avh', 'a', 'h1:']).ignored).to.deep.equal(['-h is ignored (sizes have units anyway)']);
  });

  it('of rsync that change nothing are accepted', () => {
    const parsed = parseCopyArgv(['-avzP', '--partial', '--progress', 'a', 'h1:']);
    expect(parsed).to.deep.include({ kind: 'copy', pathWords: ['a', 'h1:'] });
    expect(parsed.kind === 'copy' && parsed.ignored).to.deep.equal([
      '-z is ignored (to compress, use --compress zstd)',
      '-P is ignored (interrupted copies resume anyway, and a terminal shows progress)',
      '--progress is ignored (a terminal shows it anyway)',
    ]);
    const plain = parseCopyArgv(['--progress', 'plain', 'a', '--', '--progress']);
    expect(plain).to.deep.include({ pathWords: ['a', '--progress'], ignored: [] });
  });

  const WRONG: readonly (readonly [string, RegExp])[] = [
    ['-P 22 a b', /^-P takes no port \(for ssh's port use -o Port=22; for a file write \.\/22\)$/],
    ['-rP 22 a b', /^-P takes no port/],
    ['-e ssh a b', /--ssh-program/],
    ['--backup a b', /not available: .* make snapshots with --link-dest/],
    ['--backup-dir=x a b', /not available: .* make snapshots with --link-dest/],
    ['--chmod=u+x a b', /not available: run chmod/],
    ['--bwlimit=3 a b', /^unknown option '--bwlimit=3' \(.*use --limit RATE/],
    ['-aHAX a b', /^-H in '-aHAX' does not mean the same as in rsync \(-a keeps hard links;/],
    ['-HA a b', /^-H in '-HA'/],
    [
      '-p a b',
      /^--port: 'a' is not a port .*\(modes are part of -a, times are always kept; for ssh's port use -o Port=NUMBER\)$/,
    ],
    ['-p 22 a b', /^--port: 22 is the port of ssh, not one for data \(to log in on it use -o Port=22\)$/],
    ['--progress=a b c', /^--progress: 'a' is not one of: auto, live, plain, none/],
    ['--max-delete x a b', /^--max-delete: 'x' is not a number of removals \(0 to 999999999\)$/],
    ['--lenient a b', /^unknown option '--lenient'/],
    ['-vq a b', /^--quiet and --verbose cannot be combined$/],
    ['--exclude= a b', /^--exclude: the pattern is empty$/],
  ];
  for (const [words, message] of WRONG) {
    it(`are refused: ${words}`, () =>
      expect(usageErrorOf(() => parseCopyArgv(words.split(' '))).message).to.match(message));
  }

  it('are all in the help, which fits 80 columns and two screens of 24 lines, and has a line on slashes', () => {
    const help = parseCopyArgv(['--help', 'a']);
    if (help.kind !== 'help') throw new Error(help.kind);
    const lines = help.text.split('\n');
    expect(lines.filter((line) => line.length > 80)).to.deep.equal([]);
    expect(lines.length - 1).to.be.at.most(48);
    expect(help.text).to.contain('dir copies the directory into DST, dir/ its contents');
    for (const [, row] of optionsOf('copy')) for (const flag of flagTexts(row)) expect(help.text).to.contain(flag);
    expect(parseArgv(['help', 'rdcp'])).to.deep.equal(help);
  });

  it('print the version', () =>
    expect(parseCopyArgv(['-V'])).to.deep.equal({ kind: 'version', text: `rdcp ${VERSION}\n`, parts: false }));

  it('are not options of a pipeline', () => {
    for (const flag of ['-a', '-r', '--delete', '--exclude=x', '--files-from=x', '--partial'])
      expect(usageErrorOf(() => parseArgv([flag, 'h1:true'])).message).to.match(/^unknown option/);
  });

  it('are understood or a usage error, whatever is given', () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary' }).map(binary),
      fc.constantFrom('-a', '-0', '--', '-', '-p', '7', '--exclude', '-H', '--files-from', 'h1:a', '-o', '-1'),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        try {
          const invocation = parseCopyArgv(words);
          if (invocation.kind === 'copy') for (const path of invocation.pathWords) expect(words).to.contain(path);
        } catch (error) {
          expect(error).to.be.instanceOf(UsageError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
