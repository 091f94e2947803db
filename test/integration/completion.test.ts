// SPDX-License-Identifier: Apache-2.0
// Completion of paths on hosts: over an existing connection, whatever its host answers,
// and never over a new one.
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { CompletionPlace } from '../support/completion-place.ts';
import { eventually } from '../support/eventually.ts';
import { isRunning, signalProcess } from '../support/processes.ts';
import { ROOT } from '../support/root.ts';

describe('paths on hosts for completion', () => {
  let place: CompletionPlace;

  before(async () => {
    place = new CompletionPlace();
    await place.startHosts();
  });
  after(() => place.close());

  /** Returns the candidates of `rdpipe __complete`, which must exit by itself with status 0 and print nothing else. */
  async function ask(...words: readonly string[]): Promise<readonly string[]> {
    return askWithin(place.env.RDPIPE_TAB_SECONDS, words);
  }

  async function askWithin(seconds: string | undefined, words: readonly string[]): Promise<readonly string[]> {
    const env = { ...place.env, RDPIPE_TAB_SECONDS: seconds };
    const options = { cwd: place.work, env, extendEnv: false, stripFinalNewline: false } as const;
    const run = await execa(join(ROOT, 'bin/rdpipe'), ['__complete', ...words, '-F', 'c'], options);
    expect(run.stderr).to.equal('');
    return run.stdout.split('\n').slice(0, -1);
  }

  async function answers(kind: 'stage' | 'path', word: string, ...wanted: readonly string[]): Promise<void> {
    expect(await ask(kind, word)).to.deep.equal(wanted);
  }

  const logins = () => readFileSync(join(place.directory, 'h1.log'), 'utf8').split('Connection from').length - 1;

  it('are names in a directory, directories with a slash, and hidden ones after a dot', async () => {
    const { home } = place.host('h1');
    place.write(home, 'data/', 'data/a1', 'data/a2/', 'data/.a3', 'data/b');
    await answers('path', 'h1:~/da', 'h1:~/data/');
    await answers('path', 'h1:~/data/a', 'h1:~/data/a1', 'h1:~/data/a2/');
    await answers('path', `h1:${home}/data/.`, `h1:${home}/data/.a3`);
    await answers('path', 'root@h1:~/data/', 'root@h1:~/data/a1', 'root@h1:~/data/a2/', 'root@h1:~/data/b');
    for (const begin of ['<', '< ', '>', '>>  ']) await answers('stage', `h1:${begin}~/data/b`, `h1:${begin}~/data/b`);
    for (const word of ['h1:cat ~/data/', 'h1:~/data/', 'h1:<> ~/data/'])
      expect(await ask('stage', word)).to.deep.equal([]);
    for (const word of ['rd://h1/', '~/data', './h1:~/data', 'h1:~root/', '-h1:~/data/', 'h1:~/no/'])
      expect(await ask('path', word)).to.deep.equal([]);
  });

  it('are quoted for the shells of the host', async () => {
    const { home } = place.host('h1');
    place.write(
      home,
      'q/',
      "q/it's",
      'q/two words',
      'q/$(touch ran)',
      'q/-x',
      'q/"y"',
      'q/back\\slash/',
      'q/back\\slash/z',
    );
    await answers('path', "h1:~/q/it's", "h1:~/q/it's");
    await answers('path', 'h1:~/q/$(', 'h1:~/q/$(touch ran)');
    await answers('path', 'h1:~/q/-', 'h1:~/q/-x');
    await answers('path', 'h1:~/q/"', 'h1:~/q/"y"');
    await answers('path', 'h1:~/q/back\\slash/', 'h1:~/q/back\\slash/z');
    await answers('stage', "h1:< ~/q/it\\'", "h1:< ~/q/it\\'s");
    await answers('stage', 'h1:< ~/q/two', 'h1:< ~/q/two\\ words');
    await answers('stage', 'h1:< ~/q/\\$', 'h1:< ~/q/\\$\\(touch\\ ran\\)');
    await answers('stage', 'h1:< ~/q/back\\\\slash/', 'h1:< ~/q/back\\\\slash/z');
    for (const word of ["h1:< ~/q/it'", 'h1:< ~/q/$(touch ran)', 'h1:< ~/q/two w', 'h1:< ~/q/`', 'h1:< ~/q/"'])
      expect(await ask('stage', word)).to.deep.equal([]);
    expect(existsSync(join(home, 'ran'))).to.equal(false);
  });

  it('exclude names that would act on the terminal, and are not too many', async () => {
    const { home } = place.host('h1');
    place.write(home, 'odd/', 'odd/a\x1b[31m', 'odd/a\nb', 'odd/a\u0007', 'odd/a\u009b', 'odd/aé', 'many/');
    place.write(home, ...Array.from({ length: 300 }, (_, number) => `many/${number}`));
    await answers('path', 'h1:~/odd/', 'h1:~/odd/aé');
    expect(await ask('path', 'h1:~/many/')).to.have.lengthOf(200);
  });

  it('work on a host that prints a greeting or an unexpected answer', async () => {
    const { home } = place.host('h1');
    place.write(home, 'lies/', 'lies/true');
    const fake = join(place.directory, 'fake');
    place.write(place.directory, 'fake/');
    const lines = ['Welcome', '=true', '=../../etc/', '=other', '=true/../..', '=true\x1b[2J', '', '='];
    writeFileSync(
      join(fake, 'ssh'),
      `#!/bin/sh\ncase $1 in -G) exec /usr/bin/ssh "$@" ;; esac\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}\n`,
      { mode: 0o755 },
    );
    const env = { ...place.env, PATH: `${fake}:${place.env.PATH}` };
    const words = ['__complete', 'path', 'h1:~/lies/t', '-F', 'c'];
    const { stdout } = await execa(join(ROOT, 'bin/rdpipe'), words, { cwd: place.work, env, extendEnv: false });
    expect(stdout).to.equal('h1:~/lies/true');
  });

  it('also come over the connection of --persist', async () => {
    place.disconnect();
    const { home } = place.host('h1');
    place.write(home, 'kept/');
    const options = { cwd: place.work, env: place.env, extendEnv: false } as const;
    await execa(join(ROOT, 'bin/rdpipe'), ['-F', 'c', '--persist', '60', 'h1:true'], options);
    try {
      const before = logins();
      await answers('path', 'h1:~/ke', 'h1:~/kept/');
      await answers('path', 'h2:~/ke');
      expect(logins()).to.equal(before);
    } finally {
      await execa(
        'sh',
        ['-c', 'for socket in "$0"/*; do ssh -O exit -S "$socket" host; done', join(place.home, '.cache/rdpipe/ssh')],
        { ...options, reject: false },
      );
      place.connect();
    }
  });

  it('open no connection, and use none whose program is dead', async () => {
    expect(await ask('path', 'h2:/')).to.deep.equal([]);
    expect(existsSync(join(place.directory, 'connected'))).to.equal(false);
    const { stderr } = await execa('ssh', ['-F', 'c', '-O', 'check', 'h1'], { cwd: place.work });
    const pid = Number(/pid=(\d+)/.exec(stderr)?.[1]);
    signalProcess(pid, 'SIGKILL');
    await eventually(() => expect(isRunning(pid)).to.equal(false));
    expect(existsSync(place.socket('h1'))).to.equal(true);
    const before = logins();
    expect(await ask('path', 'h1:/')).to.deep.equal([]);
    expect(logins()).to.equal(before);
    rmSync(place.socket('h1'));
    place.connect();
  });

  it('are kept for some seconds', async () => {
    const { home } = place.host('h1');
    const cache = join(place.home, '.cache/rdpipe/tab');
    const keptAt = (seconds: number) => {
      for (const name of readdirSync(cache)) utimesSync(join(cache, name), seconds, seconds);
    };
    place.write(home, 'asked/', 'asked/a');
    await answers('path', 'h1:~/asked/', 'h1:~/asked/a');
    place.write(home, 'asked/b');
    keptAt(Date.now() / 1000 + 3600);
    await answers('path', 'h1:~/asked/', 'h1:~/asked/a');
    await answers('path', 'h1:~/asked/b', 'h1:~/asked/b');
    keptAt(1);
    await answers('path', 'h1:~/asked/', 'h1:~/asked/a', 'h1:~/asked/b');
  });

  it('have the usual time limit if that of the environment is wrong', async () => {
    place.write(place.host('h1').home, 'limit/');
    await eventually(async () => expect(await askWithin('2s', ['path', 'h1:~/lim'])).to.deep.equal(['h1:~/limit/']));
  });

  it('do not wait for a connection that does not answer', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(place.socket('h2'));
    try {
      // On a slow machine the shortest time passes before rdpipe has connected.
      for (let seconds = 0.3; sockets.length === 0; seconds *= 4)
        expect(await askWithin(`${seconds}`, ['path', 'h2:/'])).to.deep.equal([]);
      expect(sockets).to.have.lengthOf(1);
      expect(existsSync(join(place.directory, 'connected'))).to.equal(false);
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });
});
