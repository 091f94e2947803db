import { expect } from 'chai';
import fc from 'fast-check';
import { type CopyPaths, type CopySide, hostsOf } from '../../src/model/copy.ts';
import { UsageError } from '../../src/model/errors.ts';
import type { NamedHost, Settings } from '../../src/model/settings.ts';
import { parseCopyPaths } from '../../src/parse/copy-paths.ts';
import { binary, PLAIN_SETTINGS, usageErrorOf } from './helpers.ts';

function parse(words: readonly string[], namedHosts: readonly NamedHost[] = []): CopyPaths {
  return parseCopyPaths(words, { words, settings: { ...PLAIN_SETTINGS, namedHosts } });
}

/** `h1|path path`, `-`, `rd h:1|path`. */
function text(side: CopySide): string {
  if (side.kind === 'stream') return '-';
  const place = side.kind === 'paths' ? `${side.host.user ?? ''}@${side.host.name}` : `rd ${side.server}:${side.port}`;
  return `${place}|${side.paths.join(' ')}`;
}

describe('copy paths', () => {
  const PLACES: readonly (readonly [string, string])[] = [
    ['dir/', '@|dir/'],
    ['./a:b', '@|./a:b'],
    ['/a:b', '@|/a:b'],
    ['d/a:b', '@|d/a:b'],
    ['~/x', '@|~/x'],
    ['a b*?', '@|a b*?'],
    ['h1:', '@h1|~/'],
    ['h1:~', '@h1|~'],
    ['h1:a:b', '@h1|a:b'],
    ['ann@h1:/x/', 'ann@h1|/x/'],
    ['a@b@h1:x', 'a@b@h1|x'],
    ['[::1]:x', '@::1|x'],
    ['ann@[fe80::1%eth0]:~/x', 'ann@fe80::1%eth0|~/x'],
    ['[a]/b:c', '@|[a]/b:c'],
    ['[a', '@|[a'],
    [':a:b', '@|a:b'],
    ['h1://x', '@h1|//x'],
    ['h1:./:x', '@h1|./:x'],
    ['rd://h1/run7/', 'rd h1:10470|run7/'],
    ['RD://h1:7/', 'rd h1:7|'],
    ['rd://[::1]:7000//a', 'rd ::1:7000|a'],
  ];
  for (const [word, place] of PLACES) {
    it(`reads ${word} as ${place}`, () => {
      expect(text(parse([word, 'dst']).source)).to.equal(place);
      expect(text(parse(['src', word]).target)).to.equal(place);
    });
  }

  it('reads a host with a slash if its launcher may have one', () => {
    const kubectl = { kind: 'kubectl' } as const;
    const ssh = { kind: 'ssh' } as const;
    const sourceOf = (word: string, launcher: Settings['launcher']) =>
      text(parseCopyPaths([word, '.'], { words: [], settings: { ...PLAIN_SETTINGS, launcher } }).source);
    const forAll = { all: kubectl, hosts: new Map() };
    expect(sourceOf('prod/db-0:/x', forAll)).to.equal('@prod/db-0|/x');
    expect(sourceOf('prod/db-0:', { all: { kind: 'command', words: ['sh'] }, hosts: new Map() })).to.equal(
      '@prod/db-0|~/',
    );
    for (const path of ['./d/a:b', '../a:b', '/d/a:b', '~/a:b', 'd/a'])
      expect(sourceOf(path, forAll)).to.equal(`@|${path}`);
    const forOne = { all: ssh, hosts: new Map([['prod/db-1', kubectl]]) };
    expect(sourceOf('prod/db-1:x', forOne)).to.equal('@prod/db-1|x');
    expect(sourceOf('prod/db-2:x', forOne)).to.equal('@|prod/db-2:x');
    expect(sourceOf('d/a:b', { all: { kind: 'podman' }, hosts: new Map() })).to.equal('@|d/a:b');
  });

  it('reads several sources of one host', () => {
    expect(text(parse(['h1:a', 'h1:b/', 'c']).source)).to.equal('@h1|a b/');
    expect(text(parse(['a', './b:c', 'h1:d']).source)).to.equal('@|a ./b:c');
    expect(text(parse(['rd://h1/a', 'rd://h1:10470/b', 'd']).source)).to.equal('rd h1:10470|a b');
  });

  it('reads the hosts of a target, of a list or a group', () => {
    const hosts = (word: string) => {
      const { target } = parseCopyPaths(['a', word], {
        words: [],
        settings: { ...PLAIN_SETTINGS, groups: new Map([['rack', 'n[1-2],h1']]) },
      });
      return target.kind === 'paths' ? [...hostsOf(target).map(({ label }) => label), ...target.paths] : [];
    };
    expect(hosts('n[01-03]:/x')).to.deep.equal(['n01', 'n02', 'n03', '/x']);
    expect(hosts('h1,ann@h2:')).to.deep.equal(['h1', 'ann@h2', '~/']);
    expect(hosts('@rack:d/')).to.deep.equal(['n1', 'n2', 'h1', 'd/']);
    expect(hosts('h1,h1:x')).to.deep.equal(['h1', 'x']);
  });

  it('reads standard input and output', () => {
    expect([parse(['-', 'h1:x'])].map(({ source, target }) => [text(source), text(target)])).to.deep.equal([
      ['-', '@h1|x'],
    ]);
    expect(text(parse(['h1:x', '-']).target)).to.equal('-');
  });

  it('accepts the expansion of a pattern in a large directory', () => {
    const words = Array.from({ length: 100_000 }, (_, index) => `f${index}`);
    const { source } = parseCopyPaths([...words, 'h1:'], {
      words: [],
      settings: PLAIN_SETTINGS,
    });
    expect(source.kind === 'paths' && source.paths.length).to.equal(100_000);
  });

  const WRONG: readonly (readonly [string, RegExp])[] = [
    ['', /^no SRC and DST given/],
    ['h1:x', /^missing DST after h1:x$/],
    ['h1:a h2:b c', /^sources are on two hosts, h1 and h2$/],
    ['h1:a ann@h1:b c', /^sources are on two hosts, h1 and ann@h1$/],
    ['a h1:b c', /^sources are on two hosts, this machine and h1$/],
    ['h1::mod/x a', /^h1::mod\/x names a module of an rsync daemon$/],
    ['rsync://h1/x a', /URL of another protocol/],
    ['ssh://h1/x a', /URL of another protocol/],
    ['a : ', /^: has no path$/],
    ['h1:~ann/x b', /~ only works for the home/],
    ['~ann b', /~ only works for the home/],
    ['-x:a b', /begins with '-'/],
    ['@h1:a b', /there is no group h1/],
    ['n[1-2]:a b', /a source is on one host, not 2/],
    ['n[2-1]:a b', /runs backwards/],
    ['rd://h1/a h1,h2:b', /only one host at a time$/],
    ['- -', /^both SRC and DST are -$/],
    ['- a h1:b', /^- cannot be combined with other sources$/],
    ['a b -', /^- takes one file, not 2$/],
    ['- h1:', /^DST is a directory, and standard input has no name$/],
    ['- h1:d/', /^DST is a directory, and standard input has no name$/],
    ['- d/..', /^DST is a directory, and standard input has no name$/],
    ['rd://h1 a', /^rd:\/\/h1 is not rd:\/\/HOST/],
    ['rd://h1:0/x a', /is not rd:/],
    ['rd://h1:70000/x a', /is not rd:/],
    ['rd://-h/x a', /is not rd:/],
    ['rd://h1/x rd://h2/y', /^SRC and DST cannot both be rd:\/\/ paths$/],
  ];
  for (const [words, message] of WRONG) {
    it(`refuses ${words}`, () => {
      const given = words.split(' ').filter((word) => word !== '');
      expect(usageErrorOf(() => parse(given)).message).to.match(message);
    });
  }

  it('shows the place of a mistake', () => {
    const words = ['-r', 'h1:a', 'h2:b', 'c'];
    const error = usageErrorOf(() => parseCopyPaths(words.slice(1), { words, settings: PLAIN_SETTINGS }));
    expect(error.detail).to.equal('  rdcp -r h1:a h2:b c\n               ^^^^ run rdcp once for each host');
    expect(usageErrorOf(() => parse(['h1:a', 'n1:c', 'n2:c'])).detail).to.match(
      /\^ write one DST on several hosts: n1,n2:c$/,
    );
    expect(usageErrorOf(() => parse(['a', ''])).message).to.equal('a path is empty');
  });

  it('accepts the hosts that options name', () => {
    const named = [{ flag: '--sudo', host: 'h2' }];
    expect(parse(['a', 'h2:b'], named).target.kind).to.equal('paths');
    expect(usageErrorOf(() => parse(['a', 'h1:b'], named)).message).to.equal("--sudo: no path has the host 'h2'");
  });

  /** Any bytes that a word can contain. */
  const bytes = fc
    .array(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 30 })
    .map((values) => Buffer.from(values).toString('latin1'));

  it('keeps every byte of a path', () => {
    fc.assert(
      fc.property(bytes, fc.constantFrom('', 'h1', 'ann@[::1]', 'ü'), (path, host) => {
        fc.pre(!/^[~:]/.test(path));
        const { source, target } = parse([`${binary(host)}:${path}`, `./${path}`]);
        expect(source).to.have.deep.property('paths', [path]);
        expect(target).to.have.deep.property('paths', [`./${path}`]);
      }),
      { numRuns: 500 },
    );
  });

  it('understands any input, or reports a usage error in lines of text', () => {
    const word = fc.oneof(
      bytes,
      fc.string({ unit: fc.constantFrom('h1', ':', '/', '[', ']', '@', '-', '~', '.', 'rd:') }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (words) => {
        try {
          parse(words);
        } catch (error) {
          expect(error).to.be.instanceOf(UsageError);
          expect((error as UsageError).message).not.to.match(/\p{Cc}/u);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
