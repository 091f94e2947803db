// SPDX-License-Identifier: Apache-2.0
// A command reaches sh on its host byte for byte: what it prints there is what it prints here.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';

const COMMANDS: readonly string[] = [
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

describe('a command', () => {
  const lab = useLab();

  for (const command of COMMANDS) {
    it(`passes unchanged: ${JSON.stringify(command.slice(0, 60))}`, async () => {
      const env = { COMMAND: command };
      const here = await lab.sh('sh -c "$COMMAND" < /dev/null', env);
      const there = await lab.sh('rdpipe h1:"$COMMAND"', env);
      expect({ text: there.text, status: there.status }).to.deep.equal({ text: here.text, status: here.status });
    });
  }

  it('passes unchanged when it is not UTF-8', async () => {
    const command = `$(printf "printf '%%s' '\\377\\376\\300\\200 \\351' | od -An -tx1")`;
    const result = await lab.sh(`rdpipe h1:"${command}" h2:cat`);
    expect({ text: result.text, stderr: result.stderr }).to.deep.equal({ text: ' ff fe c0 80 20 e9\n', stderr: '' });
  });

  it('is shown safely in messages when it is not UTF-8 or has control characters', async () => {
    const result = await lab.sh(`rdpipe h1:"$(printf 'exit 3 # \\377 \\033[31m')"`);
    expect(result.status).to.equal(3);
    expect(result.stderr).to.match(/^rdpipe: stage 1 \(h1: exit 3 # /);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that none comes through is the point
    expect(result.stderr.trimEnd()).not.to.match(/[\x00-\x1f\x7f]/);
  });

  it('may name any host in brackets and with a user', async () => {
    const result = await lab.sh(`rdpipe "$(id -un)@h1:echo a@b:c"`);
    expect({ text: result.text, stderr: result.stderr }).to.deep.equal({ text: 'a@b:c\n', stderr: '' });
  });
});
