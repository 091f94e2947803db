// SPDX-License-Identifier: Apache-2.0
// The metadata of a file that a sink replaced, compared with a shell's `>`:
// owner, mode, ACL, extended attributes.
import { mkdirSync, readdirSync, readFileSync, readlinkSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { useFaultyFs, useTmpfs } from '../support/faulty-fs.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { BIN, KEY, PATIENT, useBench } from '../support/programs.ts';

const ANN = 1234;
const AS_ANN = ['setpriv', `--reuid=${ANN}`, `--regid=${ANN}`, '--clear-groups'];
/** Without /proc a file without a name cannot get one: rdrecv writes it under a hidden name. */
const WITHOUT_PROC = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
const WAYS = [
  ['', []],
  [' under a hidden name', WITHOUT_PROC],
] as const;

/** Shell commands that prepare $1, the file to be replaced; those of FILES_OF_ROOT need root. */
const FILES = [
  ['a mode', 'chmod 604 $1'],
  ["an ACL whose mask is not the group's right", 'chmod 600 $1; setfacl -m u:4321:rw,g:4321:r $1'],
  ['an ACL with fewer rights than its mask', 'setfacl -m u:4321:rw,g::-,o::- $1'],
  ['no ACL, in a directory with a default one', 'chmod 640 $1; setfacl -d -m u:4321:rwx "${1%/*}"'],
  ['attributes of users', 'setfattr -n user.note -v "of old" $1; setfattr -n user.empty $1'],
  ['a large attribute', 'setfattr -n user.large -v "$(head -c 3000 /dev/zero | tr "\\0" x)" $1'],
  ['set-user-id', 'chmod 4755 $1'],
  ['set-group-id', 'chmod 2755 $1'],
  ['set-group-id without execution', 'chmod 2644 $1'],
] as const;
const FILES_OF_ROOT = [
  ['an owner', 'chown 4321:1234 $1; chmod 640 $1'],
  ['an owner and set-user-id', 'chown 4321:1234 $1; chmod 6755 $1'],
  ['capabilities', 'chmod 755 $1; setfattr -n security.capability -v 0x0100000200200000000000000000000000000000 $1'],
  ['attributes of root', 'setfattr -n trusted.note -v "of old" $1; setfattr -n security.note -v "of old" $1'],
] as const;

describe('a sink leaves the same metadata as a shell', () => {
  const bench = useBench(PATIENT);

  before(function () {
    needsTool(this, 'getfacl', 'setfacl', 'getfattr', 'setfattr');
  });

  beforeEach(() => {
    execaSync('rm', ['-rf', bench.path('d'), bench.path('e')]);
    for (const directory of ['d', 'e']) mkdirSync(bench.path(directory));
    writeFileSync(bench.path('in'), 'new');
  });

  describe('of a replaced file', () => {
    for (const [what, make] of FILES) it(what, () => expectSame(make));

    for (const [what, make] of FILES_OF_ROOT)
      it(`${what}, for root`, function () {
        needsRoot(this);
        return expectSame(make);
      });

    for (const [what, make] of [...FILES, ...FILES_OF_ROOT])
      it(`${what}, under a hidden name`, async function () {
        needsPrivateProc(this);
        await expectSame(make, WITHOUT_PROC);
      });

    for (const [what, make] of FILES)
      it(`${what}, for a user with access to a root directory`, async function () {
        needsAnn(this);
        await expectSame(`${make}; chown -R ${ANN}:${ANN} "\${1%/*}"; ${make}`, AS_ANN);
      });

    it('a file of the same group that others own is refused to a user', async function () {
      needsAnn(this);
      await expectRefused(`chown 4321:${ANN} $1; chmod 660 $1`, 'owner');
    });

    it('a label that only root may set is refused to a user', async function () {
      needsAnn(this);
      await expectRefused(`setfattr -n security.note -v secret $1; chown ${ANN}:${ANN} $1`, 'security.note');
    });

    it('a file that its owner may write and not read', async function () {
      needsAnn(this);
      await expectSame(`chmod 200 $1; chown -R ${ANN}:${ANN} "\${1%/*}"`, AS_ANN);
    });
  });

  describe('of a new file', () => {
    for (const [way, through] of WAYS)
      for (const acl of ['', 'u:4321:rw', 'u:4321:r,g::-,o::-', 'u::r,g::rwx,o::r'])
        it(`mode and ACL, by umask and the directory's ACL '${acl}'${way}`, async function () {
          if (through.length > 0) needsPrivateProc(this);
          for (const umask of ['000', '022', '027', '077', '777']) {
            const make = `rm $1; test -z '${acl}' || setfacl -d -m '${acl}' "\${1%/*}"`;
            const withUmask = ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh'];
            await expectSame(make, [...withUmask, ...through]);
          }
        });
  });

  describe('on a tmpfs', () => {
    before(function () {
      needsRoot(this);
    });
    const directory = useTmpfs('size=10m');
    for (const [what, make] of [...FILES.slice(0, 4), ...FILES_OF_ROOT.slice(0, 3)])
      it(what, async () => {
        for (const name of ['d', 'e']) mkdirSync(`${directory()}/${name}`);
        await expectSame(make, [], `${directory()}/d`, `${directory()}/e`);
      });
  });

  describe('without attributes and unnamed files', () => {
    const faulty = useFaultyFs();
    it('a mode', async () => {
      const [ours, shells] = [faulty.directory('close'), faulty.directory('read')];
      await expectSame('chmod 604 $1', [], ours, shells);
      expect(readdirSync(ours)).to.deep.equal(['f']);
    });
  });

  for (const [way, through] of WAYS)
    for (const old of [undefined, 0o666])
      it(`only its owner may open an incomplete file${old === undefined ? '' : ', next to an old one'}${way}`, async function () {
        needsPrivateProc(this);
        const target = bench.path('d/f');
        if (old !== undefined) execaSync('sh', ['-c', 'echo old > $0; chmod 666 $0', target]);
        const [program = '', ...words] = [...through, join(BIN, 'rdrecv'), '0', KEY, target];
        const receiver = bench.start(program, words, ['ignore', 'pipe', 'pipe']);
        const port = await receiver.port();
        const open = () => openFiles(receiver.pid, bench.path('d'));
        const modes = () => open().map(({ mode }) => mode & 0o777);
        expect(modes()).to.deep.equal([0o600]);
        const sender = bench.rdsend(['127.0.0.1', `${port}`, KEY], ['pipe', 'ignore', 'pipe']);
        sender.child.stdin?.write('x'.repeat(3_000_000));
        await eventually(() => expect(open()[0]?.size).to.be.greaterThan(0));
        expect(modes()).to.deep.equal([0o600]);
        sender.child.stdin?.end();
        expect((await receiver.ended).status).to.equal(0);
        expect(statSync(target).mode & 0o777).to.equal(old ?? 0o666 & ~process.umask());
      });

  /** Creates two equal files; a shell overwrites one, rdrecv the other; expects equal metadata. */
  async function expectSame(
    make: string,
    through: readonly string[] = [],
    ourDirectory = bench.path('d'),
    shellsDirectory = bench.path('e'),
  ): Promise<void> {
    const [ours, shells] = [`${ourDirectory}/f`, `${shellsDirectory}/f`];
    for (const file of [ours, shells]) execaSync('sh', ['-ec', `rm -f $1; echo old > $1; ${make}`, 'sh', file]);
    const [program = '', ...words] = [...through, 'sh', '-c', 'printf new > "$1"', 'sh'];
    execaSync(program, [...words, shells]);
    const { sent, received } = await bench.transfer('in', ours, [], through);
    expect([sent.status, received.status, received.stderr.replace(/.*on port.*\n/, '')]).to.deep.equal([0, 0, '']);
    expect(metadata(ours)).to.equal(metadata(shells));
    for (const file of [ours, shells]) execaSync('chmod', ['u+r', file]);
    expect(readFileSync(ours, 'utf8')).to.equal('new');
  }

  async function expectRefused(make: string, what: string): Promise<void> {
    const target = bench.path('d/f');
    execaSync('sh', ['-ec', `echo old > $1; chmod 777 "\${1%/*}"; ${make}`, 'sh', target]);
    const [program = '', ...words] = [...AS_ANN, bench.program('rdrecv'), '0', KEY, target];
    const received = await bench.start(program, words, ['ignore', 'pipe', 'pipe']).ended;
    expect(received.status).to.equal(7);
    expect(received.stderr).to.equal(
      `rdrecv: cannot keep the ${what} of ${target} (to write into the old file, use the command 'cat > FILE'): operation not permitted\n`,
    );
    expect(readdirSync(bench.path('d'))).to.deep.equal(['f']);
    expect(readFileSync(target, 'utf8')).to.equal('old\n');
  }

  function needsPrivateProc(test: Mocha.Context): void {
    needsRoot(test);
    needsTool(test, 'unshare');
  }

  /** A user who runs the built programs and reads files that root wrote. */
  function needsAnn(test: Mocha.Context): void {
    needsRoot(test);
    needsTool(test, 'setpriv');
    bench.letOthersIn();
  }
});

/** All metadata except times and name. Not every file system has attributes. */
function metadata(file: string): string {
  const words = 'stat -c "%a %u %g" f; getfacl -n -c f; getfattr -d -m - -e hex f 2>&1 || true';
  return execaSync('sh', ['-ec', words], { cwd: dirname(file) }).stdout;
}

/**
 * Files of a directory that a process has open, without a name or with a hidden one. In a chroot, the path of a file
 * opened in another mount namespace begins above the root.
 */
function openFiles(pid: number, directory: string): Stats[] {
  const descriptors = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  return descriptors
    .filter((path) => readlinkSync(path).includes(`${directory}/`))
    .map((path) => statSync(path))
    .filter((status) => status.isFile());
}
