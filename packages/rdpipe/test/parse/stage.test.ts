import { expect } from 'chai';
import fc from 'fast-check';
import { UsageError } from '../../src/model/errors.ts';
import type { Stage } from '../../src/model/pipeline.ts';
import { parse, parseWords, usageErrorOf } from './helpers.ts';

describe('stage', () => {
  it('reads commands in order', () => {
    expect(parse(['ann@h1:tr a-z A-Z', ':rev']).stages).to.deep.equal([
      {
        number: 1,
        kind: 'command',
        host: { name: 'h1', user: 'ann', label: 'ann@h1' },
        text: 'tr a-z A-Z',
        command: Uint8Array.from(Buffer.from('tr a-z A-Z')),
        shell: 'sh',
        ok: [0],
      },
      {
        number: 2,
        kind: 'command',
        host: { name: '', user: undefined, label: 'this machine' },
        text: 'rev',
        command: Uint8Array.from(Buffer.from('rev')),
        shell: 'sh',
        ok: [0],
      },
    ]);
  });

  const OPERATIONS: readonly (readonly [string, string])[] = [
    ['< in', 'source in'],
    ['<in', 'source in'],
    [' <  ~/a\\ b  ', 'source ~/a\\ b'],
    ['< "$HOME/a b"\n', 'source "$HOME/a b"'],
    ['< à', 'source à'],
    ['> out', 'sink out'],
    ['>out', 'sink out'],
    ['>> log', 'append log'],
    ['>>log', 'append log'],
    ['> $(date +%F).img', 'sink $(date +%F).img'],
    ['< 2', 'source 2'],
    ['<in grep x', 'command'],
    ['< in sort -u | uniq -c', 'command'],
    ['< in LC_ALL=C sort', 'command'],
    ['< <(cmd) sort', 'command'],
    ['<>both cat', 'command'],
    ['<< EOF cat\nx\nEOF', 'command'],
    ['<<< text rev', 'command'],
    ['<< EOF', 'command'],
    ['<<- EOF | rev\nx\nEOF', 'command'],
    ['<(cmd)', 'command'],
    ['>&2 cmd', 'command'],
    ['2>/dev/null sort', 'command'],
    ['cat < in', 'command'],
    [':; < f1 | gzip', 'command'],
  ];
  for (const [command, meaning] of OPERATIONS) {
    it(`treats ${JSON.stringify(command)} as ${meaning}`, () => {
      expect(meaningOf(parse([`h1:${command}`]).stages[0])).to.equal(meaning);
    });
  }

  const LOSSES: readonly (readonly [string, string, string])[] = [
    ['< f1 | gzip', '<', "put it in its own stage: h1:'< f1'"],
    ['< f 2>/dev/null', '<', "put it in its own stage: h1:'< f'"],
    ['< f\nsort', '<', "put it in its own stage: h1:'< f'"],
    ['< f A=1', '<', "put it in its own stage: h1:'< f'"],
    ['< f # all of it', '<', "put it in its own stage: h1:'< f'"],
    ['0<f', '0<', "put it in its own stage: h1:'< f'"],
    ['> f2 && sync', '>', "put it in its own stage: h1:'> f2'"],
    ['> a; rm b', '>', "put it in its own stage: h1:'> a'"],
    ['>> a &', '>>', "put it in its own stage: h1:'>> a'"],
    ['>| out', '>|', "put it in its own stage: h1:'> out'"],
    ['> dump of monday', '>', `quote the name: h1:"> 'dump of monday'"; or write the command first`],
    ['>> à b', '>>', `quote the name: h1:">> 'à b'"; or write the command first`],
    ['> log tr "a" b', '>', 'quote the name; or write the command first'],
    ['< in > out sort', '<', 'quote the name; or write the command first'],
    ['>', '>', 'write the file name after it'],
    ['<', '<', 'write the file name after it'],
    ['> "open', '>', 'write the file name after it'],
    ['< #x', '<', 'write the file name after it'],
    ['>\nout', '>', 'write the file name after it'],
    ['>&2', '>&', "write a command: h1:'cat >&2'"],
    ['2> err', '2>', "write a command: h1:'cat 2> err'"],
    ['< <(cmd)', '<', 'make the command a stage: h1:cmd'],
    ['> >(cmd)', '>', 'make the command a stage after this one: h1:cmd'],
  ];
  for (const [command, operator, hint] of LOSSES) {
    it(`refuses ${JSON.stringify(command)}, which would lose data`, () => {
      const { message, detail = '' } = usageErrorOf(() => parse(['h1:true', `h1:${command}`]));
      expect(message).to.match(/^stage 2 \(h1: .*\) begins with /);
      expect(message).to.contain(`begins with ${operator} and would lose data (start it with :; to run it anyway)`);
      expect(detail.split('\n')[1]?.replace(/^ +\^+ /, '')).to.equal(hint);
    });
  }

  const SINKS: readonly (readonly [readonly string[], string, string])[] = [
    [
      ['h2:> a', 'wall:> a'],
      'stage 1 (h2: > a) writes a file and sends nothing to stage 2',
      "  rdpipe h2:'> a' wall:'> a'\n         ^^^^^^^^ write one stage for both: h2,wall:'> a'",
    ],
    [
      ['h2:> a', 'wall:> b'],
      'stage 1 (h2: > a) writes a file and sends nothing to stage 2',
      "  rdpipe h2:'> a' wall:'> b'\n         ^^^^^^^^ to do both: h2:'tee a'",
    ],
    [
      ['h1:a', ':>> "b c"', 'h1:cat'],
      'stage 2 (this machine: >> "b c") writes a file and sends nothing to stage 3',
      `  rdpipe h1:a :'>> "b c"' h1:cat\n              ^^^^^^^^^^^ to do both: :'tee -a "b c"'`,
    ],
  ];
  for (const [words, message, detail] of SINKS) {
    it(`refuses ${JSON.stringify(words)}, where a sink comes before the stage that would read it`, () => {
      const error = usageErrorOf(() => parse(words));
      expect(error.message).to.equal(message);
      expect(error.detail).to.equal(detail);
    });
  }

  it('accepts a source after a sink', () => {
    expect(parse(['h2:> a', 'h3:< b']).stages.map(meaningOf)).to.deep.equal(['sink a', 'source b']);
  });

  it('keeps every byte of a command and shows it readably', () => {
    const command = Array.from({ length: 255 }, (_, index) => String.fromCharCode(index + 1)).join('');
    const { stages } = parseWords([`h1:x${command}`]);
    expect(stages[0]).to.have.deep.property('command', Uint8Array.from(Buffer.from(`x${command}`, 'latin1')));
    expect(stages[0].text).not.to.match(/\p{Cc}/u);
  });

  it('shortens the text of a long command, not the command', () => {
    const [stage] = parse([`h1:echo ${'x'.repeat(5000)}`]).stages;
    expect(stage.text).to.have.lengthOf(200);
    expect(stage).to.have.property('command').with.lengthOf(5005);
  });

  it('gives each stage its shell and the statuses that count as success', () => {
    const { stages } = parse(['h1:a', 'ann@h1:b', 'h2:c'], {
      shell: {
        all: 'dash',
        hosts: new Map([
          ['h1', 'bash'],
          ['ann@h1', 'zsh'],
        ]),
      },
      ok: { all: [3], stages: new Map([[2, [1, 3, 0]]]) },
    });
    expect(stages.map((stage) => 'shell' in stage && [stage.shell, stage.ok])).to.deep.equal([
      ['bash', [0, 3]],
      ['zsh', [0, 1, 3]],
      ['dash', [0, 3]],
    ]);
  });

  const WRONG: readonly (readonly [readonly string[], string, string])[] = [
    [
      ['h1:tr a-z A-Z', 'rev'],
      'stage 2 has no host: rev',
      `  rdpipe h1:'tr a-z A-Z' rev\n                         ^^^ write host:command, or :command for this machine`,
    ],
    [
      ['h1:ls', '-l'],
      'option -l after a stage: quote the command, or put options first',
      `  rdpipe h1:ls -l\n               ^^ quote the command: host:'command -x'`,
    ],
    [['h1', 'uptime'], 'stage 1 has no command: h1', '  rdpipe h1 uptime\n         ^^ write h1:uptime'],
    [
      ['dcotor', 'h1'],
      'stage 1 has no command: dcotor',
      '  rdpipe dcotor h1\n         ^^^^^^ write dcotor:h1, or rdpipe doctor',
    ],
    [['h1:', 'ls -l'], 'stage 1 (h1) has no command', "  rdpipe h1: 'ls -l'\n         ^^^ write h1:'ls -l'"],
    [
      ['h1', 'ls', '-l', 'h2:cat'],
      'stage 1 has no command: h1',
      "  rdpipe h1 ls -l h2:cat\n         ^^ write h1:'ls -l'",
    ],
    [['-x'], 'stage 1 has no host: -x', '  rdpipe -x\n         ^^ write host:command, or :command for this machine'],
    [[''], 'stage 1 is empty', "  rdpipe ''\n         ^^ write host:command, or :command for this machine"],
    [['h1:'], 'stage 1 (h1) has no command', '  rdpipe h1:\n         ^^^ write host:command'],
    [[': \t'], 'stage 1 (this machine) has no command', "  rdpipe :$' \\t'\n         ^^^^^^^ write host:command"],
    [
      ['ssh://h1:22/x'],
      'stage 1 is a URL: ssh://h1:22/x',
      '  rdpipe ssh://h1:22/x\n         ^^^^^^^^^^^^^ write host:command; for the port use -o Port=NUMBER',
    ],
    [
      ['h1:2222:uptime'],
      'stage 1 has a port in place of a command: h1:2222:uptime',
      '  rdpipe h1:2222:uptime\n         ^^^^^^^^^^^^^^ use -o Port=NUMBER before the stages, or set Port in ~/.ssh/config for one host',
    ],
    [
      ['h1:a', 'echo hi: there', ':b'],
      "stage 2: host 'echo hi' contains white space",
      "  rdpipe h1:a 'echo hi: there' :b\n              ^^^^^^^^^^^^^^^^ write host:command, or :command for this machine",
    ],
    [
      ['-h1:a'],
      "stage 1: host -h1 begins with '-'",
      '  rdpipe -h1:a\n         ^^^^^ write host:command, or :command for this machine',
    ],
  ];
  for (const [words, message, detail] of WRONG) {
    it(`refuses ${JSON.stringify(words)}`, () => {
      const error = usageErrorOf(() => parse(words));
      expect(error.message).to.equal(message);
      expect(error.detail).to.equal(detail);
      expect(error.status).to.equal(2);
    });
  }

  it('shows options in the picture, and long words shortened', () => {
    const error = usageErrorOf(() => parse([`h1:${'x'.repeat(500)}`, 'rev'], {}, ['-v', '-p', '7000']));
    const [line = '', carets = ''] = error.detail?.split('\n') ?? [];
    expect(line).to.match(/^ {2}rdpipe -v -p 7000 h1:x{56}… rev$/);
    expect(carets.indexOf('^')).to.equal(line.indexOf('rev'));
  });

  it('requires a stage', () => {
    expect(usageErrorOf(() => parse([])).message).to.match(/^no stage given/);
  });

  const PODS: readonly (readonly [string, string])[] = [
    ['a/--as=admin/c', "host a/--as=admin/c: '--as=admin' begins with '-'"],
    ['a/b/-it', "host a/b/-it: '-it' begins with '-'"],
    ['a/b/c/d', 'host a/b/c/d is not one of: POD, NAMESPACE/POD, NAMESPACE/POD/CONTAINER'],
    ['a//c', 'host a//c is not one of: POD, NAMESPACE/POD, NAMESPACE/POD/CONTAINER'],
  ];
  for (const [host, message] of PODS) {
    it(`refuses ${host}, which is not a pod of kubectl`, () => {
      const launcher = { all: { kind: 'kubectl' }, hosts: new Map() } as const;
      expect(usageErrorOf(() => parse(['h1:a', `${host}:true`], { launcher })).message).to.equal(message);
    });
  }

  it('refuses flags that name a missing stage or host', () => {
    const ok = (stage: number) => ({ ok: { all: [], stages: new Map([[stage, [1]]]) } });
    expect(usageErrorOf(() => parse(['h1:a'], ok(2))).message).to.equal('--ok 2=…: there is only 1 stage');
    expect(usageErrorOf(() => parse(['h1:a', 'h1:b'], ok(3))).message).to.equal('--ok 3=…: there are only 2 stages');
    expect(usageErrorOf(() => parse(['h1:< f'], ok(1))).message).to.equal(
      '--ok 1=…: stage 1 (h1: < f) is a file, not a command',
    );
    const namedHosts = [
      { flag: '--sudo', host: 'h1' },
      { flag: '--data', host: 'h9' },
    ];
    expect(usageErrorOf(() => parse(['h1:a'], { namedHosts })).message).to.equal("--data: no stage has the host 'h9'");
    expect(parse(['ann@h1:a'], { namedHosts: namedHosts.slice(0, 1) }).stages).to.have.lengthOf(1);
  });

  it('throws nothing but usage errors, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 }), (words) => {
        try {
          parse(words);
        } catch (error) {
          expect(error).to.be.instanceOf(UsageError);
        }
      }),
    );
  });
});

function meaningOf(stage: Stage): string {
  if (stage.kind !== 'source' && stage.kind !== 'sink') return stage.kind;
  const word = Buffer.from(stage.word).toString();
  return stage.kind === 'source' ? `source ${word}` : `${stage.append ? 'append' : 'sink'} ${word}`;
}
