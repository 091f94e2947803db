import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { copyPipeline } from '../../src/copy/pipeline.ts';
import { type CopyWants, checkForMany, checkForStream, checkTogether } from '../../src/copy/settings.ts';
import { inputsOf, type Stage } from '../../src/model/pipeline.ts';
import { pathForSh } from '../../src/model/shell-quote.ts';
import type { TreeSettings } from '../../src/model/tree.ts';
import { parseCopyPaths } from '../../src/parse/copy-paths.ts';
import { DEFAULTS } from '../default-settings.ts';
import { PLAIN_SETTINGS, usageErrorOf } from '../parse/helpers.ts';

const WANTS: CopyWants = { ...DEFAULTS, run: 'abc', key: 'k', patterns: [] };

function plan(words: string, wants: Partial<CopyWants> = {}) {
  const given = words.split(' ');
  return copyPipeline(parseCopyPaths(given, { words: given, settings: PLAIN_SETTINGS }), {
    ...WANTS,
    ...wants,
  });
}

function shape({ pipeline: { stages } }: ReturnType<typeof plan>): string {
  return stages.map((stage) => `${stage.number} ${stage.host.label}: ${stage.text}`).join(' | ');
}

function settingsOf({ pipeline: { stages } }: ReturnType<typeof plan>): readonly TreeSettings[] {
  return stages.flatMap((stage: Stage) => (stage.kind === 'tree' ? [stage.settings] : []));
}

const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex');

describe('the pipeline of a copy', () => {
  it('tells only the programs at the target the directories of --link-dest', () => {
    const settings = settingsOf(plan('h1:x h2:d', { linkDests: ['../ü', '/b'] }));
    const dests = [Buffer.from('../ü').toString('hex'), hex('/b')];
    expect(settings.map(({ link_dests }) => link_dests)).to.deep.equal([undefined, dests, undefined, dests]);
  });

  it('scans, compares, reads and writes', () => {
    const made = plan('h1:x/a h1:b/ ann@h2:d');
    expect(shape(made)).to.equal('1 h1: scan x/a b/ | 2 ann@h2: compare d | 3 h1: read x/a b/ | 4 ann@h2: write d');
    expect(made).to.include({ readsInput: false, writesOutput: false });
    const [scan, compare, read, write] = settingsOf(made);
    expect([scan?.sources, scan?.target]).to.deep.equal([[hex('x/a'), hex('b/')], undefined]);
    expect([compare?.sources, compare?.target]).to.deep.equal([[hex('/a'), hex('/')], hex('d')]);
    expect([read?.sources, read?.target]).to.deep.equal([[hex('x/a'), hex('b/')], undefined]);
    expect([write?.sources, write?.target]).to.deep.equal([[hex('/a'), hex('/')], hex('d')]);
  });

  it('copies with one program on one host', () => {
    expect(shape(plan('a b'))).to.equal('1 this machine: scan a | 2 this machine: compare b | 3 this machine: copy b');
    const [, , copy] = settingsOf(plan('h1:a h1:b'));
    expect([copy?.role, copy?.sources, copy?.target]).to.deep.equal(['copy', [hex('a')], hex('b')]);
    expect(settingsOf(plan('h1:a ann@h1:b')).map(({ role }) => role)).to.include('write');
  });

  it('compares and writes on each of several hosts, and merges their needs', () => {
    const made = plan('h1:a n1,ann@n2:d');
    expect(shape(made)).to.equal(
      '1 h1: scan a | 2 n1: compare d | 8 ann@n2: compare d | 3 h1: unite a | 4 h1: read a | 5 n1: write d | 11 ann@n2: write d',
    );
    const { stages } = made.pipeline;
    expect(stages.map(({ part }) => part && [part.position, part.rank, part.width])).to.deep.equal([
      undefined,
      [2, 0, 2],
      [2, 1, 2],
      undefined,
      undefined,
      [5, 0, 2],
      [5, 1, 2],
    ]);
    expect(stages.flatMap((stage) => inputsOf(stage) ?? [])).to.deep.equal([2, 8]);
    expect(settingsOf(made).map(({ run }) => run)).to.deep.equal(['abc', 'abc', 'abc', 'abc', 'abc', 'abc-0', 'abc-1']);
    expect(settingsOf(made).map(({ width, rank }) => [width, rank])).to.deep.equal([
      [2, undefined],
      [2, undefined],
      [2, undefined],
      [2, undefined],
      [2, undefined],
      [2, 0],
      [2, 1],
    ]);
    expect(settingsOf(plan('n1:a n1,n2:d')).map(({ role }) => role)).not.to.include('copy');
    expect(settingsOf(plan('a n[1-1]:d')).map(({ width }) => width)).to.deep.equal([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('plans for several hosts, and writes a stream to them', () => {
    expect(settingsOf(plan('a n[1-2]:b', { dryRun: true, json: true })).map(({ host }) => host)).to.deep.equal([
      undefined,
      'n1',
      'n2',
    ]);
    expect(shape(plan('- n[1-2]:b'))).to.equal('1 n1: > b | 3 n2: > b');
  });

  it('removes files of the source at the end', () => {
    expect(shape(plan('h1:a b', { removeSourceFiles: true }))).to.match(/ \| 5 h1: clean a$/);
    expect(settingsOf(plan('a b', { removeSourceFiles: true })).map(({ clean }) => clean)).not.to.include(false);
  });

  it('plans for -n', () => {
    const made = plan('h1:a b', { dryRun: true, removeSourceFiles: true, verbosity: 1 });
    expect(settingsOf(made).map(({ role, plan: form, paths }) => [role, form, paths])).to.deep.equal([
      ['scan', undefined, false],
      ['compare', 'text', false],
    ]);
    expect(made.writesOutput).to.equal(true);
    expect(settingsOf(plan('h1:a b', { dryRun: true, json: true }))[1]?.plan).to.equal('json');
  });

  it('gives a list of paths to every program', () => {
    const list = { text: Buffer.from('d/a\nb\n'), isWhole: true };
    for (const filesFrom of ['-', 'list']) {
      const made = plan('h1:a b', { filesFrom, list, removeSourceFiles: true });
      expect(shape(made)).to.match(/^1 h1: scan a \| 2 this machine: compare b/);
      expect(made.readsInput).to.equal(false);
      for (const settings of settingsOf(made))
        expect(settings).to.include({ list: 'lines', list_text: hex('d/a\nb\n'), recursive: true });
    }
    const many = settingsOf(plan('h1:a h[2-3]:b', { filesFrom: '-', list }));
    expect(many.filter(({ list_text }) => list_text === undefined).map(({ role }) => role)).to.deep.equal(['unite']);
  });

  it('reads a long list of paths from a file of this machine, or the rest of it from standard input', () => {
    const part = { text: Buffer.alloc(0), isWhole: false };
    const made = plan('h1:a b', { filesFrom: "it's ü", fromNul: true, list: part });
    expect(shape(made)).to.match(/^1 this machine: < it's ü \| 2 h1: scan a \| 3 this machine: compare b/);
    const [source] = made.pipeline.stages;
    expect(source.kind === 'source' && Buffer.from(source.word).toString()).to.equal("'it'\\''s ü'");
    expect(settingsOf(made).map(({ list }) => list)).to.deep.equal(['nul', undefined, undefined, undefined]);
    expect(settingsOf(made)[0]?.sources).to.deep.equal([hex('a/')]);
    expect(made.readsInput).to.equal(false);
    const input = plan('h1:a b', { filesFrom: '-', list: { text: Buffer.from('d/a'), isWhole: false } });
    expect(input.readsInput).to.equal(true);
    const [scan, ...others] = settingsOf(input);
    expect(scan).to.include({ role: 'scan', list: 'lines', list_text: hex('d/a'), recursive: true });
    expect(others.map(({ list_text }) => list_text)).to.deep.equal([undefined, undefined, undefined]);
  });

  it('gives compare and write of each target a key that the source lacks', () => {
    const keys = (words: string) =>
      settingsOf(plan(words)).flatMap(({ role, key }) => (key === undefined ? [] : [`${role} ${key}`]));
    const [, first] = /^compare ([0-9a-f]{32})$/.exec(keys('h1:a h2:b')[0] ?? '') ?? [];
    expect(keys('h1:a h2:b')).to.deep.equal([`compare ${first}`, `write ${first}`]);
    const many = keys('h1:a h1,h2:b');
    expect(many.map((text) => text.split(' ')[0])).to.deep.equal(['compare', 'compare', 'write', 'write']);
    expect(new Set(many.map((text) => text.split(' ')[1])).size).to.equal(2);
  });

  it('passes the options to every program', () => {
    const patterns = [{ include: false, pattern: '\xff' }];
    const made = plan('h1:a b', { archive: true, patterns, remove: true, removeMost: 0, verbosity: 1, jobs: 3 });
    for (const settings of settingsOf(made)) {
      expect(settings).to.deep.include({ recursive: true, archive: true, remove: true, remove_most: 0, jobs: 3 });
      expect(settings).to.deep.include({ paths: true, run: 'abc', patterns: [{ include: false, pattern: 'ff' }] });
    }
    expect(settingsOf(plan('a b'))[0]).not.to.have.property('remove_most');
  });

  it('is a sink or a source for -', () => {
    const made = plan("- h1:~/it's", {});
    expect(made).to.include({ readsInput: true, writesOutput: false });
    const [sink] = made.pipeline.stages;
    expect(sink).to.include({ kind: 'sink', number: 1, append: false, text: "> ~/it's" });
    expect(sink.kind === 'sink' && Buffer.from(sink.word).toString()).to.equal("~/'it'\\''s'");
    expect(plan('a -')).to.include({ readsInput: false, writesOutput: true });
    expect(plan('a -').pipeline.stages[0]).to.include({ kind: 'source', text: '< a' });
  });

  it('gives a serving receiver its stages, with paths below its directory', () => {
    const { stages } = plan('a rd://ann@h1:4000/b/').pipeline;
    const served = { name: 'h1', user: 'ann', label: 'rd://ann@h1:4000', served: { port: 4000 } };
    expect(stages.map(({ host }) => host.label)).to.deep.equal([
      'this machine',
      served.label,
      'this machine',
      served.label,
    ]);
    expect(stages[1]?.host).to.deep.equal(served);
    expect(settingsOf(plan('a rd://ann@h1:4000/b/'))[1]).to.include({ role: 'compare', target: hex('b/') });
    const whole = plan('rd://[::1]/ /tmp').pipeline.stages[0] as Stage;
    expect(whole.host).to.deep.equal({ name: '::1', user: undefined, label: 'rd://[::1]', served: { port: 10470 } });
    expect(settingsOf(plan('rd://[::1]/ /tmp'))[0]?.sources).to.deep.equal([hex('./')]);
    expect(settingsOf(plan('a rd://h1/'))[1]?.target).to.equal(hex('.'));
  });

  it('refuses standard streams together with a serving receiver', () => {
    expect(usageErrorOf(() => plan('- rd://h1/b')).message).to.match(/^cannot copy between - and an rd:/);
    expect(usageErrorOf(() => plan('rd://h1/b -')).message).to.match(/^cannot copy between - and an rd:/);
  });

  it('refuses options that contradict each other', () => {
    const message = (options: Parameters<typeof checkTogether>[0], sources = 1) =>
      usageErrorOf(() => checkTogether(options, sources)).message;
    expect(message({ remove: true })).to.equal('--delete needs -r or -a');
    expect(message({ removeMost: 3 })).to.equal('--max-delete needs --delete');
    const patterns = [
      { kind: 'include', pattern: '*/' },
      { kind: 'include', pattern: '*.c' },
      { kind: 'exclude', pattern: '*' },
    ] as const;
    expect(message({ patterns })).to.equal(
      "nothing is included before --exclude '*': the last match decides " +
        "(write: --exclude '*' --include '*/' --include '*.c')",
    );
    expect(() => checkTogether({ patterns: [patterns[2], patterns[0], patterns[1]] }, 1)).not.to.throw();
    expect(message({ fromNul: true })).to.equal('--from0 needs --files-from');
    expect(message({ filesFrom: 'x', remove: true, archive: true })).to.match(
      /^--delete cannot be combined with --files-from$/,
    );
    expect(message({ filesFrom: 'x' }, 2)).to.equal('--files-from lists paths below one SRC, not 2');
    expect(usageErrorOf(() => checkForStream({ archive: true })).message).to.match(
      /^--archive cannot be used with -, /,
    );
    expect(message({ sync: false, verify: true })).to.match(/^--verify needs the copy on disk: /);
    expect(message({ sync: false, removeSourceFiles: true })).to.match(
      /^--remove-source-files needs the copy on disk: /,
    );
    const linkDests = ['../old'];
    expect(message({ linkDests, inPlace: true })).to.match(/^--inplace cannot be combined with --link-dest: /);
    expect(message({ linkDests, removeSourceFiles: true })).to.match(/^--remove-source-files cannot be combined with /);
    expect(message({ linkDests: Array.from({ length: 21 }, String) })).to.match(/^--link-dest can be given 20 times/);
    checkTogether({ linkDests, archive: true, remove: true }, 2);
    expect(usageErrorOf(() => checkForMany({ linkDests })).message).to.match(/^--link-dest needs a DST on one host/);
    expect(usageErrorOf(() => checkForMany({ removeSourceFiles: true })).message).to.match(/needs a DST on one host/);
    checkForMany({ remove: true });
    checkForStream({ verbosity: 1 });
    checkTogether({ remove: true, recursive: true, removeMost: 1 }, 3);
  });
});

describe('a word for the shell', () => {
  it('keeps every byte except the NUL that ends a word', () => {
    const bytes = fc.array(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 1, maxLength: 30 }), (paths) => {
        const texts = paths.map((path) => `x${Buffer.from(path).toString('latin1')}`);
        const script = Buffer.from(`printf '%s\\0' ${texts.map(pathForSh).join(' ')}`, 'latin1');
        const shown = execFileSync('sh', { input: script }).toString('latin1');
        expect(shown).to.equal(texts.map((one) => `${one}\0`).join(''));
      }),
      { numRuns: 20 },
    );
  });

  it('leaves the home directory to the shell', () => {
    expect(['~', '~/', '~/a b', '~a', 'a~/b'].map(pathForSh)).to.deep.equal(['~', '~/', "~/'a b'", "'~a'", "'a~/b'"]);
  });
});
