// SPDX-License-Identifier: Apache-2.0
// Hosts whose login shell is not sh, or prints text at login.
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { succeeded } from '../support/shell.ts';

const SHELLS = ['dash', 'bash', 'zsh', 'fish', 'tcsh'];

describe('a login shell', () => {
  const lab = useLab({
    hosts: [
      ...SHELLS.map((shell) => ({ name: shell, server: [`ForceCommand exec ${shell} -c "$SSH_ORIGINAL_COMMAND"`] })),
      {
        name: 'noisy',
        server: ['ForceCommand echo Welcome; echo to >&2; printf "no newline"; eval "$SSH_ORIGINAL_COMMAND"'],
      },
    ],
  });

  for (const shell of SHELLS) {
    it(`may be ${shell}`, async function () {
      needsTool(this, shell);
      succeeded(
        await lab.sh(`echo hi | rdpipe ${shell}:'tr a-z A-Z; echo "it'"'"'s \\$HOME" '"'"'!'"'"'' h2:cat`),
        "HI\nit's $HOME !\n",
      );
    });
  }

  it('may print a greeting', async () => succeeded(await lab.sh("echo hi | rdpipe noisy:'tr a-z A-Z' h2:rev"), 'IH\n'));
});
