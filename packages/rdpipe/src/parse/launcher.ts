/** Reads a launcher: its name, or a template of a command line. */
import { UsageError } from '../model/errors.ts';
import { COMMAND, type Launcher } from '../model/launcher.ts';

/** The launchers, without templates. */
export const LAUNCHER_NAMES = ['ssh', 'slurm', 'podman', 'docker', 'kubectl', 'lxc'] as const;

/** Reads a launcher as the user writes it: `podman`, `command:srun --overlap -w %h -N1 -n1 sh`. @throws UsageError */
export function readLauncher(text: string): Launcher {
  if (text.startsWith(COMMAND)) return { kind: 'command', words: templateWords(text.slice(COMMAND.length)) };
  const kind = LAUNCHER_NAMES.find((name) => name === text);
  if (kind === undefined)
    throw new UsageError(`'${text}' is not one of: ${LAUNCHER_NAMES.join(', ')}, ${COMMAND}TEMPLATE`);
  return { kind } as Launcher;
}

function templateWords(template: string): readonly string[] {
  const words = splitWords(template);
  if (words.length === 0) throw new UsageError(`the template is empty (${COMMAND}srun --overlap -w %h -N1 -n1 sh)`);
  const unknown = words.map((word) => /%.?/.exec(word.replace(/%[%hu]/g, ''))?.[0]).find((mark) => mark !== undefined);
  if (unknown !== undefined) throw new UsageError(`'${unknown}' in the template is not one of: %h, %u, %%`);
  return words;
}

/** Splits words as a shell does, with quotes and backslashes, but without expansion. */
function splitWords(text: string): readonly string[] {
  const word = /\s*((?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)/y;
  const words: string[] = [];
  for (let end = 0; text.slice(end).trim() !== ''; end = word.lastIndex) {
    word.lastIndex = end;
    const [, found] = word.exec(text) ?? [];
    if (found === undefined) throw new UsageError('the template has an unmatched quote or a backslash at its end');
    words.push(unquote(found));
  }
  return words;
}

function unquote(word: string): string {
  const parts = /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/g;
  return word.replace(
    parts,
    (_, plain?: string, single?: string, double?: string) =>
      plain ?? single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? '',
  );
}
