import { expect } from 'chai';
import { UsageError } from '../../src/model/errors.ts';
import { checkLaunchedHost, fillTemplate, launcherName } from '../../src/model/launcher.ts';
import { readLauncher } from '../../src/parse/launcher.ts';

describe('a launcher', () => {
  it('is one of the names', () => {
    for (const kind of ['ssh', 'slurm', 'podman', 'docker', 'kubectl', 'lxc'] as const) {
      expect(readLauncher(kind)).to.deep.equal({ kind });
      expect(launcherName(readLauncher(kind))).to.equal(kind);
    }
  });

  const templates: readonly (readonly [string, readonly string[]])[] = [
    ['srun --overlap -w %h -N1 -n1 sh', ['srun', '--overlap', '-w', '%h', '-N1', '-n1', 'sh']],
    [`a 'b  c' "d \\"e\\" $x" f\\ g ''`, ['a', 'b  c', 'd "e" $x', 'f g', '']],
    [`x'y'"z"`, ['xyz']],
    ['sh -c $(date)', ['sh', '-c', '$(date)']],
    ['--nodelist=%h%%', ['--nodelist=%h%%']],
  ];
  for (const [template, words] of templates) {
    it(`splits ${template} as a shell, and expands nothing`, () => {
      expect(readLauncher(`command:${template}`)).to.deep.equal({ kind: 'command', words });
    });
  }

  it('has the host in the words of a template', () => {
    const host = { name: 'n$&1', user: undefined };
    expect(fillTemplate(['-w', '%h', '%%h%h.x', '%%u'], host)).to.deep.equal(['-w', 'n$&1', '%hn$&1.x', '%u']);
    expect(fillTemplate(['%u@%h', '-l%u'], { ...host, user: 'a%h' })).to.deep.equal(['a%h@n$&1', '-la%h']);
  });

  it('needs a user for %u, and only then', () => {
    const [ann, other] = [
      { name: 'h1', user: 'ann', label: 'ann@h1' },
      { name: 'h1', user: undefined, label: 'h1' },
    ];
    const launcher = readLauncher('command:sudo -u %u sh');
    expect(() => checkLaunchedHost(launcher, other)).to.throw(
      UsageError,
      "host h1: the launcher's %u needs a user (write USER@h1)",
    );
    expect(() => checkLaunchedHost(launcher, ann)).not.to.throw();
    expect(() => checkLaunchedHost(readLauncher('command:sh %%u'), other)).not.to.throw();
  });

  const wrong: readonly (readonly [string, string])[] = [
    ['podmn', 'is not one of: ssh, slurm, podman, docker, kubectl, lxc, command:TEMPLATE'],
    ['command:', 'the template is empty'],
    ['command:  ', 'the template is empty'],
    ['command:sh "x', 'unmatched quote or a backslash at its end'],
    ['command:sh \\', 'unmatched quote or a backslash at its end'],
    ['command:sh %n', "'%n' in the template is not one of: %h, %u, %%"],
    ['command:sh %', "'%' in the template is not one of: %h, %u, %%"],
  ];
  for (const [text, message] of wrong) {
    it(`is not ${text}`, () => {
      expect(() => readLauncher(text)).to.throw(UsageError, message);
    });
  }
});
