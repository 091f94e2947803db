import { expect } from 'chai';
import { execa } from 'execa';
import { bundled } from './bundle.ts';

describe('protect-payload', () => {
  const script = bundled('print-payload-flags.ts');

  it("leaves descriptors 0 and 1 blocking, even if node's streams are used", async () => {
    expect(await flagsOf(script.path(), 'protected')).to.deep.equal({ stdin: 'blocks', stdout: 'blocks' });
  });

  it('is needed', async () => {
    expect(await flagsOf(script.path(), 'bare')).to.deep.equal({ stdin: 'does not block', stdout: 'does not block' });
  });
});

/** The flags of the program's pipes after it loaded node:process, which it prints on standard error. */
async function flagsOf(script: string, mode: string): Promise<unknown> {
  // The shell creates pipes; node would give its child sockets.
  const command = 'sleep 0 | "$0" "$1" "$2" | cat';
  const words = ['-c', command, process.execPath, script, mode];
  return JSON.parse((await execa('sh', words, { stdio: ['ignore', 'ignore', 'pipe'] })).stderr);
}
