/** Chooses the agent for this machine: the one whose programs can use its libraries, where they run. */
import { dirname, join } from 'node:path';
import { startProgram } from '../session/start-program.ts';
import { localDirectory } from './local-directory.ts';
import { locateLocalAgents } from './locate.ts';

/** Its path; undefined where this copy of rdpipe has none for the CPU. */
export async function chooseLocalAgent(agents = locateLocalAgents()): Promise<string | undefined> {
  const known = agents.find((agent) => dirname(agent) === localDirectory());
  if (known !== undefined) return known;
  const [first, second] = agents;
  // A copy that was made elsewhere may lack its libraries here (libssl), or the loader itself.
  return second === undefined || (first !== undefined && (await runs(first))) ? first : second;
}

function runs(agent: string): Promise<boolean> {
  const program = startProgram([join(dirname(agent), 'rdhop'), '--version'], ['ignore', 'ignore', 'ignore']);
  return new Promise((resolve) => {
    program.once('error', () => resolve(false));
    program.once('exit', (code) => resolve(code === 0));
  });
}
