import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { execaSync } from 'execa';

const PRINT = fileURLToPath(new URL('./print-streams.ts', import.meta.url));
const COMMAND = `${process.execPath} --import ${import.meta.resolve('tsx')} ${PRINT}`;

describe('userStreams', () => {
  const cases: readonly (readonly [string, string, object])[] = [
    ['a pipe', `true | ${COMMAND} | cat`, { stdin: 'send', stdout: 'arrive' }],
    ['a file', `${COMMAND} <${PRINT} >/dev/full`, { stdin: 'send', stdout: 'arrive' }],
    ['/dev/null', `${COMMAND} </dev/null >/dev/null`, { stdin: 'null', stdout: 'drop' }],
    ['closed', `${COMMAND} <&- >&-`, { stdin: 'null', stdout: 'drop' }],
    ['a terminal', `script -qec '${COMMAND} 2>&3' /dev/null 3>&2 2>&1 >/dev/null`, { stdin: 'null', stdout: 'arrive' }],
  ];
  for (const [name, script, streams] of cases) {
    it(`sees ${name}`, () => expect(seen(script)).to.deep.equal(streams));
  }

  it('reads nothing with --stdin none, even if there is input', () => {
    expect(seen(`true | WANTED_STDIN=none ${COMMAND} | cat`)).to.include({ stdin: 'null' });
  });
});

function seen(script: string): unknown {
  return JSON.parse(execaSync('sh', ['-c', script], { stdin: 'ignore', reject: false }).stderr);
}
