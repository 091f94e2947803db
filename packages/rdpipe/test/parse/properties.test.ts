import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { runProgram } from '../../../../test/support/run-program.ts';
import { UsageError } from '../../src/model/errors.ts';
import { type OptionRow, takesValue } from '../../src/model/option-row.ts';
import { OPTION_ROWS, OPTIONS, type OptionName } from '../../src/model/options.ts';
import { printable } from '../../src/model/text.ts';
import { parseArgv } from '../../src/parse/argv.ts';
import { bytesOf, lastWords } from '../../src/parse/binary-string.ts';
import { caretLines } from '../../src/parse/caret.ts';
import { hostKey, parseHostRef } from '../../src/parse/host-ref.ts';
import { parseHosts } from '../../src/parse/hosts.ts';
import { classifyCommand } from '../../src/parse/redirections.ts';
import { parseStages } from '../../src/parse/stage.ts';
import { readValue } from '../../src/parse/values.ts';
import { endOfWord } from '../../src/parse/word-end.ts';
import { binary, PLAIN_SETTINGS } from './helpers.ts';

/** A word of a command line: any bytes except NUL, which ends it. */
const anyWord = fc
  .array(fc.integer({ min: 1, max: 255 }), { maxLength: 24 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));
const FLAGS = OPTION_ROWS.flatMap(([, { short, long }]) => [short, long]).filter((name) => name !== undefined);
const likelyWord = fc.oneof(
  anyWord,
  fc.constantFrom(...FLAGS, 'doctor', 'demo', '--', ':', 'h1:cat', 'h1:< x', '2001:db8::1', '[::1]:a', '-vv', '--ok=1'),
  fc.tuple(fc.constantFrom(...FLAGS), anyWord).map(([option, value]) => `${option}=${value}`),
  fc.tuple(fc.string({ unit: fc.constantFrom(...'h1@[]:%-.$\\ü') }), anyWord).map(([a, b]) => `${binary(a)}:${b}`),
);

/** The value that `read` returns; undefined if it throws a UsageError. Any other error is a defect of rdpipe. */
function unlessUsage<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

describe('any input of the user', () => {
  it('is understood or a usage error, options and all', () => {
    fc.assert(
      fc.property(fc.array(likelyWord, { maxLength: 6 }), (words) => {
        const invocation = unlessUsage(() => parseArgv(words));
        if (invocation?.kind === 'doctor') unlessUsage(() => parseHosts(invocation.hostWords, PLAIN_SETTINGS));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every byte of a command', () => {
    fc.assert(
      fc.property(fc.array(likelyWord, { minLength: 1, maxLength: 4 }), (words) => {
        const pipeline = unlessUsage(() => parseStages(words, { optionWords: [], settings: PLAIN_SETTINGS }));
        pipeline?.stages.forEach((stage, index) => {
          if (stage.kind !== 'command') return;
          const word = Buffer.from(bytesOf(words[index] ?? ''));
          expect(word.subarray(-stage.command.length).equals(stage.command)).to.equal(true);
          expect(printable(stage.text)).to.equal(stage.text);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('names a host that is one word to every shell, and reads the same a second time', () => {
    const text = fc.oneof(anyWord, fc.string({ unit: fc.constantFrom(...'h1@[]:%-.$;(`\\ü\u202e') }).map(binary));
    fc.assert(
      fc.property(text, (word) => {
        const host = unlessUsage(() => parseHostRef(word));
        if (host === undefined || host.name === '') return;
        expect(host.name).not.to.match(/^-|[\s'"`$\\;&<>|(){}]/);
        expect(host.user ?? '').not.to.match(/^-|[\s'"`;&<>|(){}]|\\$/);
        expect(printable(host.label)).to.equal(host.label);
        expect(parseHostRef(binary(host.label))).to.deep.equal(host);
        expect(hostKey(parseHostRef(binary(host.label)))).to.equal(hostKey(host));
      }),
      { numRuns: 1000 },
    );
  });

  it('is a value or a usage error', () => {
    const isText = ({ kind }: OptionRow) => !['switch', 'exclude', 'include'].includes(kind);
    const rows = OPTION_ROWS.filter(([, row]) => isText(row) && takesValue(row));
    const read = (name: OptionName, word: string) => unlessUsage(() => readValue(OPTIONS[name], word));
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'0123456789.,-+eEKMGiB ') }),
      fc.string({ unit: fc.constantFrom('zstd', ':', '1', '9', '0', 'none') }),
    );
    fc.assert(
      fc.property(text, (word) => {
        for (const [name] of rows) read(name, word);
        const address = read('hostname', word);
        if (address !== undefined) expect(address).to.match(/^[A-Za-z0-9_.:%][A-Za-z0-9_.:%-]*$/);
        expect(read('compressLevel', word) ?? 0).to.be.within(0, 19);
        expect(read('jobs', word) ?? 0).to.be.within(0, 64);
        expect(read('limitBytesPerS', word) ?? 0).to.be.within(0, 2 ** 50);
        const bytes = read('sizeBytes', word);
        if (bytes !== undefined) expect(Number.isSafeInteger(bytes) && Number(bytes) >= 0).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('returns the values that were written', () => {
    const port = fc.integer({ min: 1, max: 65535 });
    fc.assert(
      fc.property(port, port, fc.array(fc.nat(255), { minLength: 1 }), fc.nat(2 ** 40), (a, b, statuses, bytes) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        expect(readValue(OPTIONS.ports, `${low}-${high}`)).to.deep.equal([low, high]);
        expect(readValue(OPTIONS.ok, statuses.join(','))).to.deep.equal({ stage: undefined, statuses });
        expect(readValue(OPTIONS.sizeBytes, `${bytes}`)).to.equal(bytes);
      }),
    );
  });

  it('is taken from the system byte for byte', () => {
    fc.assert(
      fc.property(fc.array(anyWord), fc.array(anyWord), (before, words) => {
        const cmdline = Buffer.from([...before, ...words].map((word) => `${word}\0`).join(''), 'latin1');
        expect(lastWords(cmdline, words.length)).to.deep.equal(words);
      }),
    );
  });

  it('is shown on two lines without control characters', () => {
    fc.assert(
      fc.property(fc.array(likelyWord, { minLength: 1, maxLength: 4 }), fc.nat(3), (words, index) => {
        const lines = caretLines(words, index % words.length, 'hint').split('\n');
        expect(lines).to.have.length(2);
        for (const line of lines) expect(printable(line)).to.equal(line);
      }),
    );
  });

  const pieces = fc.constantFrom(
    ...['<', '>', '>>', '<<', '>&', '2>', '0<', '&>', '>|', '<(', '|', '&&', ';', '&', '(', ')', '#', '\n', ' ', ' '],
    ...['f', 'sort', 'A=1', "'a b'", '"$x"', '\\', "'", '"', '$(', '2'],
  );
  const redirected = fc
    .tuple(fc.constantFrom('<', '>', '>>', ' < ', '> '), fc.array(pieces, { maxLength: 8 }))
    .map(([operator, rest]) => operator + rest.join(''));

  it('is a file only if it is one operator and one word', () => {
    fc.assert(
      fc.property(redirected, (command) => {
        const form = classifyCommand(command);
        if (form.kind !== 'file') return;
        const { operator, word } = form.file;
        const [, before, behind] = command.split(/^([ \t\n]*[<>]+[ \t]*)/);
        expect(before?.trim()).to.equal(operator);
        expect(behind?.slice(0, word.length)).to.equal(word);
        expect(behind?.slice(word.length)).to.match(/^[ \t\n]*$/);
        expect(endOfWord(word, 0)).to.equal(word.length);
      }),
      { numRuns: 2000 },
    );
  });

  it('never lets a shell run redirections without a command', () => {
    const ends = fc.constantFrom('|', '&&', '||', ';', '&', '\n', ')', '#');
    const file = fc.constantFrom('f', "'a b'", '"$x/y"', '$(date)', 'a\\ b');
    const more = fc.array(fc.constantFrom(' 2>/dev/null', ' >&2', ' A=1', ' <g', '>h'), { maxLength: 3 });
    const operator = fc.constantFrom('<', '< ', '>', '> ', '>>', '>| ', '0<', '1>');
    fc.assert(
      fc.property(operator, file, more, ends, anyWord, (begin, name, others, end, tail) => {
        // A newline alone may follow a file, so x follows it; `#` begins a comment only after a blank.
        const command = `${begin}${name}${others.join('')} ${end} x${tail}`;
        expect(classifyCommand(command).kind).to.equal('loss');
      }),
      { numRuns: 1000 },
    );
  });

  it('loses nothing through redirections that count as part of a command', () => {
    const redirection = fc.constantFrom('<f', '< g', '>f', '>> g', '2>err', '2>&1');
    const before = fc.array(redirection, { minLength: 1, maxLength: 3 });
    const behind = fc.constantFrom('', ' cat', ' | cat', ' && cat', '; cat', ' A=1 cat', ' A=1 | cat');
    const directory = mkdtempSync(join(tmpdir(), 'rdpipe-opening-'));
    try {
      fc.assert(
        fc.property(before, behind, (redirections, rest) => {
          const command = redirections.join(' ') + rest;
          if (classifyCommand(command).kind !== 'command') return;
          for (const name of ['f', 'g']) writeFileSync(join(directory, name), 'data');
          const { stdout, status } = runProgram('sh', ['-c', command], { cwd: directory, input: 'data' });
          expect({ stdout, status }, command).to.deep.equal({ stdout: 'data', status: 0 });
        }),
        { numRuns: 150 },
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('has words that end within the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a \\\'"`$(){}<>|;#\n') }), fc.nat(8), (text, start) => {
        const end = endOfWord(text, Math.min(start, text.length));
        if (end !== undefined) expect(end).to.be.greaterThan(Math.min(start, text.length)).and.at.most(text.length);
      }),
      { numRuns: 1000 },
    );
  });
});
