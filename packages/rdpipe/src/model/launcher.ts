/** The launchers: programs that give a shell on a host, in place of ssh. */

export type Launcher =
  | { readonly kind: 'ssh' }
  | { readonly kind: 'slurm' }
  | { readonly kind: ContainerProgram }
  /** The words of a program that becomes a shell on the host: `%h` is the host, `%%` a percent sign. */
  | { readonly kind: 'command'; readonly words: readonly string[] };

export type ContainerProgram = 'podman' | 'docker' | 'kubectl' | 'lxc';

export const COMMAND = 'command:';

/** For people: the program's name, and the first word of a template. */
export function launcherName(launcher: Launcher): string {
  return launcher.kind === 'command' ? (launcher.words[0] ?? '') : launcher.kind;
}

/** The words of a template for one host. */
export function fillTemplate(words: readonly string[], host: string): string[] {
  return words.map((word) => word.replace(/%[%h]/g, (mark) => (mark === '%h' ? host : '%')));
}
