import { Readable } from 'node:stream';
import { expect } from 'chai';
import { execaSync } from 'execa';
import fc from 'fast-check';
import { decodeEvent, decodeHello } from '../../src/agent/decode.ts';
import { readLines } from '../../src/agent/lines.ts';
import { quoteForSh } from '../../src/model/shell-quote.ts';
import { printable } from '../../src/model/text.ts';
import { connected, counters, exited, linkEnded } from '../run/sample.ts';
import { HELLO } from './fake-agent.ts';

const EVENTS: readonly object[] = [
  { event: 'prepared', segment: 1 },
  { event: 'listening', link: 1, end: 'recv', transport: 'tcp', port: 4711 },
  { event: 'dial_failed', link: 1, end: 'send', code: 'cannot_connect', message: 'no' },
  ...[connected(1, 'send'), counters(1, 'recv'), exited(1), linkEnded(1, 'recv')],
  { event: 'stderr', stage: 1, data: '6162' },
  { event: 'failed', stage: null, code: 'internal', message: 'x' },
  { event: 'left_behind', pid: 7, command: 'sudo' },
  { event: 'resumed', link: 1, end: 'send', epoch: 2, bytes: 5 },
  { event: 'closed', link: 1, end: 'recv' },
];

/** A message in which only one field is wrong. */
const almostEvent = fc
  .tuple(fc.constantFrom(...EVENTS), fc.nat(12), fc.jsonValue({ stringUnit: 'binary' }))
  .map(([event, at, value]) => {
    const entries = Object.entries(event);
    entries[at % entries.length] = [entries[at % entries.length]?.[0] ?? '', value];
    return Object.fromEntries(entries);
  });

describe('any input from a host', () => {
  it('is split into lines, however it arrives', async () => {
    const bytes = fc
      .uint8Array({ maxLength: 40 })
      .map((all) => Buffer.from(all.map((byte) => (byte % 5 === 0 ? 10 : byte))));
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat(40)), async (all, cuts) => {
        const edges = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
        const chunks = edges.slice(1).map((edge, index) => all.subarray(edges[index], edge));
        const lines: Buffer[] = [];
        for await (const line of readLines(Readable.from(chunks), 1000)) lines.push(line);
        const whole = all.toString('latin1').split('\n');
        if (whole.at(-1) === '') whole.pop();
        expect(lines.map((line) => line.toString('latin1'))).to.deep.equal(whole);
      }),
    );
  });

  it('is one line also if it arrives byte by byte', async () => {
    const text = 'x'.repeat(5000);
    const lines: Buffer[] = [];
    for await (const line of readLines(Readable.from([...`${text}\n`].map((byte) => Buffer.from(byte))), 10_000))
      lines.push(line);
    expect(lines.map(String)).to.deep.equal([text]);
  });

  it('is a message or none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decodeEvent(bytes)).to.equal(undefined);
        expect(decodeHello(bytes)).to.equal(undefined);
      }),
    );
    fc.assert(fc.property(fc.json(), (text) => decodeHello(Buffer.from(text)) === undefined));
  });

  it('is accepted unchanged if harmless, and reads the same a second time', () => {
    for (const event of EVENTS) expect(decodeEvent(encode(event))).to.deep.equal(event);
    fc.assert(
      fc.property(almostEvent, (event) => {
        const decoded = decodeEvent(encode(event));
        if (decoded === undefined) return;
        expect(decodeEvent(encode(decoded))).to.deep.equal(decoded);
        for (const value of Object.values(decoded)) {
          if (typeof value === 'string') expect(printable(value)).to.equal(value);
          if (typeof value === 'number') expect(Number.isSafeInteger(value) && value >= 0).to.equal(true);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('describes itself only with harmless text', () => {
    const keys = Object.keys(HELLO);
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.jsonValue({ stringUnit: 'binary' }), (key, value) => {
        const hello = decodeHello(encode({ ...HELLO, [key]: value }));
        for (const text of Object.values(hello ?? {}))
          if (typeof text === 'string') expect(printable(text)).to.equal(text);
      }),
      { numRuns: 1000 },
    );
  });

  it('is one word to sh in a script', () => {
    const word = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '').toString());
    const words = fc.sample(word, 300).map((text) => Buffer.from(text).toString());
    const script = words.map((text) => `printf '%s\\0' ${quoteForSh(text)}\n`).join('');
    const printed = execaSync('sh', { input: script }).stdout.split('\0').slice(0, -1);
    expect(printed).to.deep.equal(words);
  });
});

function encode(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
