import { expect } from 'chai';
import { SessionError, SignalError, UsageError } from '../../../src/model/errors.ts';
import { caretLines } from '../../../src/parse/caret.ts';
import { failureReport, failureText, messageLine } from '../../../src/ui/terminal/failure.ts';

describe('failure', () => {
  it('is one line', () => {
    const error = new SessionError('unreachable', 'h2', 'cannot reach h2: connection refused on port 22');
    expect(failureText(error)).to.equal('rdpipe: cannot reach h2: connection refused on port 22\n');
    expect(messageLine('a \n  b\n')).to.equal('rdpipe: a; b\n');
    expect(messageLine('a\u001b[2Jb')).to.equal('rdpipe: a␛[2Jb\n');
  });

  it('shows the place of a usage error below it', () => {
    const error = new UsageError('stage 2 has no host: rev', '  rdpipe h1:a rev\n              ^^^ write host:command');
    expect(failureText(error)).to.equal(
      'rdpipe: stage 2 has no host: rev\n  rdpipe h1:a rev\n              ^^^ write host:command\n',
    );
  });

  it('shows the words around that place on a terminal, and a long hint below', () => {
    const words = ['h1:zcat logs/*.gz', 'h2:grep -v DEBUG', 'uptime', 'h3:cat', 'h3:> out'];
    const error = new UsageError('stage 3 has no host: uptime', caretLines(words, 2, 'write host:uptime'));
    const [, ...wide] = failureText(error, undefined, undefined, 80).trimEnd().split('\n');
    expect(wide).to.deep.equal([
      "  rdpipe h1:'zcat logs/*.gz' h2:'grep -v DEBUG' uptime h3:cat h3:'> out'",
      '                                                ^^^^^^ write host:uptime',
    ]);
    const [, ...narrow] = failureText(error, undefined, undefined, 40).trimEnd().split('\n');
    expect(narrow).to.deep.equal([
      "… logs/*.gz' h2:'grep -v DEBUG' uptime …",
      '                                ^^^^^^',
      '  write host:uptime',
    ]);
  });

  it('colors only the name', () => {
    const colors = { speaker: (text: string) => text, failure: (text: string) => `<${text}>` };
    expect(failureText(new UsageError('wrong'), colors)).to.equal('<rdpipe:> wrong\n');
  });

  it('reports internal errors as such', () => {
    expect(failureText(new TypeError('x is undefined'))).to.equal('rdpipe: internal error: x is undefined\n');
    expect(failureText('thrown')).to.equal('rdpipe: internal error: thrown\n');
  });

  it('is also a report', () => {
    const empty = { v: 1, run: '', seconds: 0, stages: [], hops: [], leftBehind: [] };
    expect(failureReport(new UsageError('wrong'))).to.deep.equal({
      ...empty,
      status: 2,
      cause: 'usage',
      causeStage: null,
      message: 'wrong',
    });
    expect(failureReport(new SignalError('SIGINT'))).to.deep.include({ status: 130, cause: 'signal' });
    expect(failureReport(new Error('x'))).to.deep.include({
      status: 125,
      cause: 'rdpipe',
      message: 'internal error: x',
    });
  });
});
