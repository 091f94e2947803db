// SPDX-License-Identifier: Apache-2.0
// Commands that print the same bytes on this machine and on a host.
import { expect } from 'chai';
import type { Lab } from '../support/lab.ts';

export const COMMANDS: readonly string[] = [
  `echo 'single' "double" plain`,
  `echo "it's" 'say "hi"'`,
  `echo '"' "'" \\' \\"`,
  'echo one\necho two\n\necho three',
  "printf '%s\\n' a\\\n b",
  `echo hi! '!' "!" !! !$`,
  'echo \\ \\\\ \\\\\\ "\\\\" \'\\\'',
  'x=5; echo $x "$x" \'$x\' \\$x $((x * 2)) $(echo in) `echo back`',
  'echo $HOME_IS_UNSET "${none:-default}" ${#x}',
  'cd / && echo * ? [a-z]* {a,b} ~root',
  'printf "%s\\n" "a  b" a\tb "$(printf \'x\\ty\')"',
  'echo ünïcödé 日本語 🚀 "e\u0301" \u00a0',
  'for i in 1 2; do echo $i; done; if true; then echo yes; fi',
  'cat <<END\nhere $((1 + 1)) "quoted"\nEND',
  "cat <<'END'\n$not `expanded`\nEND",
  '(echo sub); { echo group; } && echo and || echo or',
  'echo out; echo err >&2',
  'echo a | tr a b | cat',
  '  echo leading and trailing  ',
  '# a comment\necho after # another',
  'echo a;echo b&wait',
  'echo %s %d %% \\n',
  "echo 'a:b' c:d @e [f]:g",
  'set -- -n x; echo "$@"; echo $0 | grep -c sh',
  'echo <&- "<" ">" "|"',
  `echo ${'x'.repeat(100_000)} | wc -c`,
];

/** Adds a test for each command. */
export function testUnchanged(lab: Lab, commands: readonly string[]): void {
  for (const command of commands) {
    it(`passes unchanged: ${JSON.stringify(command.slice(0, 60))}`, async () => {
      const env = { COMMAND: command };
      const here = await lab.sh('sh -c "$COMMAND" < /dev/null', env);
      const there = await lab.sh('rdpipe h1:"$COMMAND"', env);
      expect({ text: there.text, status: there.status }).to.deep.equal({ text: here.text, status: here.status });
    });
  }
}
