// SPDX-License-Identifier: Apache-2.0
// A table of command lines for which ssh and rdssh have the same output, standard error and status.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Lab, useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';

const SHELLS = ['zsh', 'fish', 'tcsh', 'dash'];

/** Lines of bash; $P is ssh or rdssh. */
const STREAMS: readonly string[] = [
  '$P h1 exit 3; echo $?; $P h1 no-such-program; echo $?; $P h1 "kill -9 \\$\\$"; echo $?',
  '$P h1 "echo out; echo err >&2; printf no-newline >&2"',
  'echo hi | $P h1 cat; echo hi | $P -n h1 cat; $P h1 cat',
  'for h in a b; do echo $h; done | while read l; do echo got $l; $P h1 cat; done',
  'for h in a b; do echo $h; done | while read l; do echo got $l; $P -n h1 cat; done',
  'yes | $P h1 "head -3"; echo ${PIPESTATUS[@]}',
  '$P h1 "seq 1 10000000" | head -1; echo ${PIPESTATUS[@]}',
  '$P h1 "echo a; sleep 0.5; exit 3" | head -1; echo ${PIPESTATUS[@]}',
  '$P h1 "sort -r" <<< "$(seq 10)"; printf "a\\nb\\n" | $P h1 "while read x; do echo got \\$x; done; echo end"',
  '$P h1 "exec >&-; cat > /dev/null; exit 5" < /etc/passwd; echo $?; $P h1 "exec 0<&-; echo done" < <(sleep 1)',
  '$P h1 "(sleep 0.3; echo late >&2; echo late) & echo soon; exit 6"; echo $?',
  '$P h1 "nohup sleep 1000 > /dev/null 2>&1 & echo started \\$!" > pid; read w pid < pid && kill $pid && echo soon',
  'head -c 100000000 /dev/zero | $P h1 cat | wc -c',
];

const COMMANDS: readonly string[] = [
  `$P h1 printf "'%s\\n'" "'a  b'" '$HOME' '"x$SHELL"' "*"; $P h1 "echo a
echo b"; $P h1 -- echo --help; $P h1 echo -p 3 -- x; $P h1 ' '`,
  '$P h1 "printf %s $(printf "\\377\\376") | od -c"; x=$(head -c 100000 /dev/zero | tr "\\0" x); $P h1 echo $x | wc -c',
  'x=$(head -c 30000 /dev/zero | tr "\\0" x); $P h1 "echo $x" $x $x $x| wc -c',
  '$P h1 "ulimit -n; ulimit -c; umask; pwd; nice; cat /proc/self/oom_score_adj; ls /proc/self/fd | wc -l"',
  '$P h1 "grep -e SigBlk -e SigIgn -e NoNewPrivs -e Seccomp: /proc/self/status; set -o; echo \\$- \\$0"',
  '$P h1 "env | grep -v -e ^SSH_CONN -e ^SSH_CLIENT -e ^_= | sort"',
];

const OPTIONS: readonly string[] = [
  '$P -T h1 tty; $P h1 tty; $P -t h1 tty 2> /dev/null; $P -tt h1 "tty > /dev/null && echo yes"',
  '$P -l $USER h1 whoami; $P $USER@h1 whoami; $P -vvv h1 "echo hi" 2> /dev/null; $P -q h1 "echo err >&2; exit 7"; echo $?',
  'LC_TEST=x $P -o SendEnv=LC_TEST -o SetEnv=FOO=bar h1 "echo \\$LC_TEST"',
  '$P behind echo through; $P -J h1 h2 echo through',
  '$P -E log h1 "echo err >&2; exit 2"; echo $?; test -s log || echo empty',
  '$P -f h1 "echo hi" > hi; until test -s hi; do sleep 0.1; done; cat hi',
  `eval "$(ssh-agent)" > /dev/null; ssh-add -q $HOME/key; o='-o IdentityAgent=SSH_AUTH_SOCK'
  $P -A $o h1 "ssh-add -l"; $P -a $o h1 "ssh-add -l"; kill $SSH_AGENT_PID`,
  '$P -s h1 nosuch; echo $?; $P -o RemoteCommand=hostname h1 echo hi; echo $?; echo hi | $P -o StdinNull=yes h1 cat',
  'for o in -p1 -px -oNoSuch=1 -oUserKnownHostsFile=/dev/null "-oHostKeyAlias=x -oStrictHostKeyChecking=yes"; do $P $o h1 true 2> err; echo $?; test -s err; done',
  `printf 'Host h1\\n RequestTTY force\\n' | cat - $CONFIG > c; for o in -t -T; do $P -F c $o h1 tty < /dev/null 2> /dev/null; done
  for o in SessionType=subsystem RemoteCommand=no RequestTTY=force; do $P -o $o h1 'tty > /dev/null; echo $?' < /dev/null 2> /dev/null; echo $?; done`,
  `printf 'Host h1\\n ForkAfterAuthentication yes\\n' | cat - $CONFIG > c; $P -F c h1 "echo hi" < /dev/null > hi; until test -s hi; do sleep 0.1; done; cat hi`,
  `printf 'Host h1\\n PermitLocalCommand yes\\n LocalCommand echo local\\n' | cat - $CONFIG > c; $P -F c h1 echo hi
  $P -E /nowhere/log h1 true; echo $?; $P -e bad h1 true; echo $?; $P -F /nowhere h1 true; echo $?; $P -oNoSuch=1 h1 true; echo $?`,
  '$P -o LocalForward="$PWD/socket /nowhere" h1 "test -S $PWD/socket && echo listens"',
  `for o in "" -q "-o LogLevel=ERROR"; do $P $o -o StrictHostKeyChecking=no -o UserKnownHostsFile=$PWD/known banner 'echo hi >&2'
  rm known; done; $P -E log banner 'echo hi'; cat log`,
  '$P nosuchhost true 2> err; echo $?; grep -c . err',
  'mkfifo in; exec 3<> in; $P h1 "echo started; cat" < in > out & until test -s out; do sleep 0.1; done; kill $!; wait $!; echo $?',
];

const HOSTS: readonly string[] = [
  // Only the time limit for login shells detects `forced`: use rdpipe's default limit, not the long one of the lab.
  'for c in ls "git-upload-pack /nowhere"; do $P gits "$c"; echo $?; done; echo in | XDG_CONFIG_HOME=$PWD $P forced ls; echo $?',
  // The second rdssh starts ssh immediately; otherwise the command would run a third time.
  'export XDG_CONFIG_HOME=$PWD; echo in | $P reads ls; echo $?; rm $HOME/reads/ran; echo in | $P reads ls; echo $?; wc -l < $HOME/reads/ran',
  ...SHELLS.map(
    (shell) =>
      `$P ${shell} 'echo a b $HOME | tr a-z A-Z; exit 4'; echo $?; $P ${shell} no-such-program; echo $?; echo in | $P ${shell} cat`,
  ),
];

/** Tests the lines that `choose` selects of all lines. */
export function describeLikeSsh(choose: (lines: readonly string[]) => readonly string[]): void {
  describe('rdssh is like ssh', () => {
    const lab = useLab({
      hosts: [
        ...SHELLS.map((shell) => shellHost(shell, shell)),
        shellHost('gits', 'git-shell'),
        { name: 'forced', server: ['ForceCommand echo forced; cat; exit 4'] },
        { name: 'banner', server: ['Banner /etc/debian_version'] },
        // Like `borg serve`: prints nothing before it has read input.
        { name: 'reads', server: ['ForceCommand echo >> "$HOME/ran"; sort; exit 4'] },
      ],
    });
    describe('in its output, its standard error and its status', () =>
      tests(lab, choose([...STREAMS, ...COMMANDS, ...OPTIONS, ...HOSTS])));
  });
}

/** In a nested describe(), because its hooks run before the lab checks for processes that are left. */
function tests(lab: Lab, lines: readonly string[]): void {
  afterEach(() => lab.endKeptConnections());
  for (const line of lines)
    it(line.replaceAll('\n', '; '), async function () {
      needsTool(this, ...SHELLS, 'git-shell');
      const run = async (program: string) => {
        const env = { P: program, USER: userInfo().username, CONFIG: join(lab.homes, 'ssh_config') };
        const { status, text, stderr } = await lab.sh(`rm -rf *; ${line}`, env);
        return { status, text, stderr };
      };
      expect(await run('rdssh')).to.deep.equal(await run(`ssh -F ${join(lab.homes, 'ssh_config')}`));
    });
}

/** A host with another login shell, set by a forced command, so that no user must be created. */
function shellHost(name: string, shell: string) {
  return { name, server: [`ForceCommand SHELL=$(command -v ${shell}) exec ${shell} -c "$SSH_ORIGINAL_COMMAND"`] };
}
