// SPDX-License-Identifier: Apache-2.0
// Completion without a terminal: candidates for bash, hosts in ssh's files, local files.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CompletionPlace } from '../support/completion-place.ts';
import { needsTool } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

const FILES = join(ROOT, 'contrib/completion');

describe('completion', () => {
  let place: CompletionPlace;

  before(() => {
    place = new CompletionPlace();
    writeFileSync(join(place.home, '.ssh/config'), 'Host box1 box2\nHost *\n  Port 22\n');
    place.write(place.work, 'notes.txt');
    mkdirSync(join(place.home, '.config/rdpipe'), { recursive: true });
    const config = '[defaults]\nquiet = true\n[groups]\nrack1 = "box[1-2]"\n';
    writeFileSync(join(place.home, '.config/rdpipe/config.toml'), config);
  });
  after(() => place.close());

  /** Calls the completion function as bash does, and returns the candidates after `line`. */
  function complete(line: string): readonly string[] {
    const text = line.slice(Math.max(...[' ', '=', ':', "'"].map((mark) => line.lastIndexOf(mark))) + 1);
    const script = `. "$0"; COMP_LINE=$1 COMP_POINT=\${#1}; "_\${1%% *}" "" "$2"; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const words = ['-c', script, join(FILES, 'rdpipe.bash'), line, text];
    const run = runProgram('bash', words, { cwd: place.work, env: place.env, extendEnv: false });
    expect(run.stderr).to.equal('');
    return run.stdout.trimEnd().split('\n');
  }

  const CASES: readonly (readonly [string, readonly string[]])[] = [
    ['rdcp --del', ['--delete']],
    ['rdcp -a --no-pa', ['--no-partial']],
    ['rdcp --transport r', ['rdma']],
    ['rdcp --transport=r', ['rdma']],
    ['rdcp --exclude no', ['']],
    ['rdcp box', ['box1:', 'box2:']],
    ['rdcp a box', ['box1:', 'box2:']],
    ['rdcp ann@box', ['ann@box1:', 'ann@box2:']],
    ['rdpipe h1,box', ['h1,box1:', 'h1,box2:']],
    ['rdpipe n[1-8],x[1-4/2]!ann@box', ['n[1-8],x[1-4/2]!ann@box1:', 'n[1-8],x[1-4/2]!ann@box2:']],
    ['rdpipe n[1,box', ['']],
    ['rdpipe @r', ['@rack1:']],
    ['rdpipe doctor h1,@', ['h1,@rack1']],
    ['rdpipe --delete', ['']],
    ['rdpipe --stdin n', ['none']],
    ['rdpipe -F x -v --ok 1 --ok 2 --o', ['--ok', '--order']],
    ['rdpipe --compress z', ['zstd']],
    ['rdpipe --launcher po', ['podman']],
    ['rdcp --launcher=s', ['ssh', 'slurm']],
    ['rdpipe help la', ['launchers']],
    ['rdpipe do', ['doctor']],
    ['rdpipe h1:date do', ['']],
    ['rdpipe h1:date --ver', ['']],
    ['rdpipe -- --ver', ['']],
    ["rdpipe 'h1:a b' \"h2:it's\" box", ['box1:', 'box2:']],
    ['rdpipe doctor box', ['box1', 'box2']],
    ['rdpipe doctor box1 --js', ['--json']],
    ['rdpipe bench --rou', ['--rounds']],
    ['rdpipe help st', ['stages']],
    ['rdpipe help stages e', ['']],
    ["rdpipe ':< not", ['notes.txt']],
  ];
  for (const [line, words] of CASES) {
    it(`offers bash ${words.join(' ') || 'nothing'} for ${line}`, () => expect(complete(line)).to.deep.equal(words));
  }

  it('is correct for zsh and fish', function () {
    needsTool(this, 'zsh', 'fish');
    expect(runProgram('zsh', ['-n', join(FILES, '_rdpipe')]).stderr).to.equal('');
    expect(runProgram('fish', ['--no-execute', join(FILES, 'rdpipe.fish')]).stderr).to.equal('');
  });
});

describe('hosts for completion', () => {
  let place: CompletionPlace;

  beforeEach(() => {
    place = new CompletionPlace();
  });
  afterEach(() => place.close());

  function ask(...words: readonly string[]): readonly string[] {
    const options = { cwd: place.work, env: { ...place.env, NODE: '/bin/false' }, extendEnv: false } as const;
    const run = runProgram(join(ROOT, 'bin/rdpipe'), ['__complete', ...words], options);
    expect({ status: run.status, stderr: run.stderr }).to.deep.equal({ status: 0, stderr: '' });
    return run.stdout.split('\n').slice(0, -1);
  }

  function ssh(name: string, ...lines: readonly string[]): void {
    writeFileSync(join(place.home, '.ssh', name), `${lines.join('\n')}\n`);
  }

  it('are those of the configuration and what it includes, without patterns', () => {
    ssh('config', 'Host a1 a2 !a3 a? a* # a4', '\thost="a5"', 'HOST = a6', 'Include more* none', 'Include config');
    ssh('more1', 'Host a7', 'Include ~/.ssh/deep');
    ssh('deep', 'Match host a9', 'Host a8', 'HostName a9');
    expect(ask('hosts', 'a')).to.deep.equal(['a1', 'a2', 'a5', 'a6', 'a7', 'a8']);
    expect(ask('hosts', 'ann@a1')).to.deep.equal(['ann@a1']);
    expect(ask('stage', 'a1')).to.deep.equal(['a1:']);
  });

  it('are those of the configuration that -F names', () => {
    ssh('config', 'Host a1');
    ssh('other', 'Host a2');
    for (const words of [
      ['-F', '~/.ssh/other'],
      [`-F${place.home}/.ssh/other`],
      ['-v', '-F', '../home/.ssh/other', 'a1:date'],
    ])
      expect(ask('hosts', 'a', ...words), words.join(' ')).to.deep.equal(['a2']);
    expect(ask('hosts', 'a', '-F', 'none')).to.deep.equal([]);
    expect(ask('hosts', 'a', '-F')).to.deep.equal(['a1']);
  });

  it('are those of known_hosts whose names and ports can be written', () => {
    ssh('known_hosts', 'b1,b2,10.9.8.7 ssh-ed25519 A', '|1|c=|d= ssh-ed25519 A', '[b3]:22 ssh-ed25519 A', '# b4 b b');
    ssh('known_hosts2', '@revoked b5 ssh-ed25519 A', '@cert-authority *.b6 ssh-ed25519 A', '2001:db8::1 ssh-ed25519 A');
    expect(ask('hosts', 'b')).to.deep.equal(['b1', 'b2']);
    expect(ask('hosts', '10.')).to.deep.equal(['10.9.8.7']);
    expect(ask('stage', '[20')).to.deep.equal(['[2001:db8::1]:']);
  });

  it('are data: names that a shell or a terminal would interpret are left out', () => {
    const hostile = [
      '$(touch${IFS}ran)',
      '`touch${IFS}ran`',
      ';touch${IFS}ran',
      '-oProxyCommand=touch',
      "b'",
      'b\\',
      'b&',
    ];
    const unseen = ['b\x1b[31m', 'b\u0007', 'b\u009b31m', 'b\u202e', 'bé'];
    ssh('known_hosts', ...[...hostile, ...unseen, 'b1'].map((name) => `${name} ssh-ed25519 A`));
    ssh(
      'config',
      ...[...hostile, ...unseen, 'b2'].map((name) => `Host ${name}`),
      'Include $(touch${IFS}ran)',
      'Include -e',
    );
    expect(ask('hosts', '')).to.include.members(['b1', 'b2']);
    expect(ask('hosts', 'b')).to.deep.equal(['b1', 'b2']);
    for (const word of [...hostile, ...unseen, 'b1\n', '\\', '%', '&']) expect(ask('hosts', word)).to.deep.equal([]);
    for (const word of ['$(touch ran):< x', "b1:< '$(touch ran)", 'b1:< $(touch ran)', ':< `touch ran`'])
      expect(ask('stage', word)).to.deep.equal([]);
    expect(existsSync(join(place.work, 'ran'))).to.equal(false);
  });

  it('stay few if a file includes itself many times', () => {
    ssh('config', 'Host a1', 'Include config', 'Include *');
    expect(ask('hosts', 'a')).to.deep.equal(['a1']);
  });
});

describe('files of this machine for completion', () => {
  const place = new CompletionPlace();
  after(() => place.close());

  it('are quoted for sh', () => {
    place.write(
      place.work,
      'two words',
      'a$b',
      "it's",
      '-x',
      'dir/',
      '.hidden',
      'line\nbreak',
      'bell\u0007',
      'left\u202e',
      'w\u200b',
    );
    const ask = (word: string) =>
      runProgram(join(ROOT, 'bin/rdpipe'), ['__complete', 'stage', word], { cwd: place.work }).stdout;
    expect(ask(':<')).to.equal([':<-x', ':<a\\$b', ':<dir/', ":<it\\'s", ':<two\\ words', ''].join('\n'));
    expect(ask(':>>  two\\ w')).to.equal(':>>  two\\ words\n');
    expect(ask(`:< ${place.work}/.h`)).to.equal(`:< ${place.work}/.hidden\n`);
    expect(ask(':cat two')).to.equal('');
    expect(ask(':< two w')).to.equal('');
    expect(ask(':<> two')).to.equal('');
  });
});
