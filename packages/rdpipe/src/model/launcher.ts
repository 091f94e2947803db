/** Launchers: ssh, and the programs that start a shell on a host instead of ssh. */

export type Launcher =
  | { readonly kind: 'ssh' }
  | { readonly kind: 'slurm' }
  | { readonly kind: ContainerProgram }
  /** A template: the words of a command that starts a shell on the host. `%h`: the host; `%%`: a percent sign. */
  | { readonly kind: 'command'; readonly words: readonly string[] };

export type ContainerProgram = 'podman' | 'docker' | 'kubectl' | 'lxc';

export const COMMAND = 'command:';

/** For people: the program's name; for a template its first word. */
export function launcherName(launcher: Launcher): string {
  return launcher.kind === 'command' ? (launcher.words[0] ?? '') : launcher.kind;
}

/** The words of a template, filled in for `host`. */
export function fillTemplate(words: readonly string[], host: string): string[] {
  return words.map((word) => word.replace(/%[%h]/g, (mark) => (mark === '%h' ? host : '%')));
}
