import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { SessionError } from '../../src/model/errors.ts';
import { destinationArguments, destinationOf, jumpDestination } from '../../src/session/destination.ts';
import { connectError, isDroppedBeforeLogin, lostError } from '../../src/session/errors.ts';
import {
  decodeAnswer,
  decodeQuestion,
  encodeAnswer,
  encodeQuestion,
} from '../../src/session/prompts/askpass-protocol.ts';
import { readPlainConfig } from '../../src/session/ssh2/config-file.ts';
import { matchesPatterns } from '../../src/session/ssh2/host-pattern.ts';
import { checkHostKey, knownHostsLine, knownKeyTypes } from '../../src/session/ssh2/known-hosts.ts';
import { messageLine } from '../../src/ui/terminal/failure.ts';
import { hostRef } from './ssh-hosts.ts';

const text = fc.string({ unit: 'binary' });
const lines = fc.array(fc.oneof(text, fc.string({ unit: fc.constantFrom(...'h1*?!,|@# \t=') })), { maxLength: 8 });
const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/);
const key = fc.uint8Array({ maxLength: 20 }).map((bytes) => keyOf('ssh-ed25519', bytes));

function keyOf(type: string, bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), bytes]);
}

const DESTINATION = destinationOf(hostRef('h1'), { configFile: undefined, options: [] });

describe('any contents of the files and words of ssh', () => {
  it('finds a known key among any other lines, and trusts no other', () => {
    fc.assert(
      fc.property(lines, name, key, key, (others, host, right, wrong) => {
        const noise = others.filter((line) => !line.includes('@') && !line.includes('\n'));
        const file = [...noise, knownHostsLine(host, right), ...noise].join('\n');
        expect(checkHostKey(file, host, right)).to.equal('known');
        expect(knownKeyTypes(file, host)).to.include('ssh-ed25519');
        if (!right.equals(wrong)) expect(checkHostKey(file, host, wrong)).to.equal('changed');
      }),
    );
  });

  it('gives a verdict on any file and key', () => {
    fc.assert(
      fc.property(lines, text, fc.uint8Array(), (file, host, bytes) => {
        expect(checkHostKey(file.join('\n'), host, Buffer.from(bytes))).to.not.equal('known');
      }),
    );
  });

  it('is a configuration, or a named mistake', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
    const configFile = join(directory, 'config');
    const keyword = fc.constantFrom(
      'Host',
      'HostName',
      'Port',
      'User',
      'ProxyJump',
      'Match',
      'Include',
      'IdentityFile',
    );
    const line = fc.oneof(
      text,
      fc.tuple(keyword, text).map(([word, value]) => `${word} ${value}`),
    );
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(line, { maxLength: 6 }), text, async (file, option) => {
          writeFileSync(configFile, file.join('\n'));
          const read = readPlainConfig({ ...DESTINATION, configFile, options: [option] });
          const config = await read.catch((error: unknown) => {
            if (!(error instanceof SessionError)) throw error;
          });
          if (config !== undefined) expect(config.get('user')?.[0]).to.be.a('string');
        }),
        { numRuns: 200 },
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('matches a name with itself, with anything and with nothing else', () => {
    fc.assert(
      fc.property(name, name, (host, other) => {
        expect(matchesPatterns(host, [host])).to.equal(true);
        expect(matchesPatterns(host, ['*'])).to.equal(true);
        expect(matchesPatterns(host, ['*', `!${host}`])).to.equal(false);
        expect(matchesPatterns(host, [other])).to.equal(host === other);
      }),
    );
  });

  it('stays one argument per word', () => {
    fc.assert(
      fc.property(text, text, text, (host, user, option) => {
        const words = destinationArguments({ ...DESTINATION, name: host, user, options: [option] });
        expect(words).to.deep.equal(['-o', option, '-l', user, '--', host]);
        expect(jumpDestination(host, [], undefined).label).to.equal(host);
      }),
    );
  });

  it('is asked and answered unchanged, and invalid input is not a question', () => {
    fc.assert(
      fc.property(text, text, text, (id, question, hint) => {
        expect(decodeQuestion(encodeQuestion({ id, text: question, hint }))).to.deep.equal({
          id,
          text: question,
          hint,
        });
        expect(decodeAnswer(encodeAnswer(question))).to.equal(question);
        expect(encodeQuestion({ id, text: question, hint }).indexOf('\n')).to.equal(
          encodeQuestion({ id, text: question, hint }).length - 1,
        );
      }),
    );
    fc.assert(
      fc.property(fc.oneof(text, fc.json()), (line) => {
        expect([decodeQuestion(line), decodeAnswer(line)]).to.deep.equal([undefined, undefined]);
      }),
    );
  });

  it('turns any output of ssh into one line without control characters', () => {
    fc.assert(
      fc.property(lines, (log) => {
        isDroppedBeforeLogin(log.join('\n'));
        for (const error of [connectError(DESTINATION, log.join('\n')), lostError('h1', log.join('\n'))]) {
          expect(error.message).to.include('h1');
          expect(messageLine(error.message).indexOf('\n')).to.equal(messageLine(error.message).length - 1);
          expect(error.message.length).to.be.lessThan(3000);
        }
      }),
    );
  });
});
