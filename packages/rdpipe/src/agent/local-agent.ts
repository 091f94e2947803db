/** Chooses the agent for this machine: the dynamic one, which uses its libraries, if that one runs. */
import { dirname, join } from 'node:path';
import { startProgram } from '../session/start-program.ts';
import { localDirectory } from './local-directory.ts';
import { locateLocalAgents } from './locate.ts';

/** Returns the agent's path, or undefined if this copy of rdpipe has no programs for this CPU. */
export async function chooseLocalAgent(agents = locateLocalAgents()): Promise<string | undefined> {
  const known = agents.find((agent) => dirname(agent) === localDirectory());
  if (known !== undefined) return known;
  const [first, second] = agents;
  // If rdpipe was built on another machine, its libraries (libssl) or even the dynamic loader may be missing here.
  return second === undefined || (first !== undefined && (await runs(first))) ? first : second;
}

function runs(agent: string): Promise<boolean> {
  const program = startProgram([join(dirname(agent), 'rdhop'), '--version'], ['ignore', 'ignore', 'ignore']);
  return new Promise((resolve) => {
    program.once('error', () => resolve(false));
    program.once('exit', (code) => resolve(code === 0));
  });
}
