// SPDX-License-Identifier: Apache-2.0
// The pipelines of the kill matrix, and the programs that connect their stages.

export type Host = '' | 'h1' | 'h2' | 'h3';
export type StageKind = 'source' | 'command' | 'sink';

export interface ShapeStage {
  /** Empty: this machine. */
  readonly host: Host;
  readonly kind: StageKind;
}

export interface Shape {
  readonly name: string;
  /** In order: stage 1 is the first. */
  readonly stages: readonly ShapeStage[];
  /** Whether the user's standard input is sent, and data arrives on standard output. */
  readonly stdin: boolean;
  readonly stdout: boolean;
}

/** Link k connects stages k and k + 1; link 0 and the last link connect to the user. */
export interface ShapeLink {
  readonly number: number;
  /** The hosts of its rdsend and rdrecv. */
  readonly from: Host;
  readonly to: Host;
}

export const SHAPES: readonly Shape[] = [
  shape('stdin, h1, stdout', ['h1:command'], { stdin: true, stdout: true }),
  shape('stdin, h1 file', ['h1:sink'], { stdin: true }),
  shape('h1, h2 file', ['h1:command', 'h2:sink']),
  shape('h1 file, h2', ['h1:source', 'h2:command']),
  shape('local, h1, local file', [':command', 'h1:command', ':sink']),
  shape('h1 file, h2, h3 file', ['h1:source', 'h2:command', 'h3:sink']),
  shape('h1 twice, h2, h3, local file', ['h1:command', 'h1:command', 'h2:command', 'h3:command', ':sink']),
  shape('stdin, five, stdout', [':command', 'h1:command', 'h2:command', 'h2:command', 'h3:command'], {
    stdin: true,
    stdout: true,
  }),
];

/** Shapes that run only on this machine. */
export const LOCAL_SHAPES: readonly Shape[] = [
  shape('local: stdin, stdout', [':command'], { stdin: true, stdout: true }),
  shape('local: file, command', [':source', ':command']),
  shape('local: command, command, file', [':command', ':command', ':sink']),
  shape('local: five', [':source', ':command', ':command', ':command', ':sink']),
];

/** Links that need programs: not a pipe between two commands of a host, nor a command on the user's descriptor. */
export function linksOf({ stages, stdin, stdout }: Shape): ShapeLink[] {
  const user: ShapeStage = { host: '', kind: 'command' };
  const row = [stdin ? user : undefined, ...stages, stdout ? user : undefined];
  return row.slice(1).flatMap((right, number) => {
    const left = row[number];
    if (left === undefined || right === undefined || isPlainPipe(left, right)) return [];
    return [{ number, from: left.host, to: right.host }];
  });
}

/** Numbers of the stages that are commands. */
export function commandsOf({ stages }: Shape): number[] {
  return stages.flatMap(({ kind }, index) => (kind === 'command' ? [index + 1] : []));
}

/** The command that blocks the pipeline in phases with a slow consumer: the last command, if it has an input. */
export function slowStageOf(shape: Shape): number | undefined {
  const last = commandsOf(shape).at(-1);
  return last === 1 && !shape.stdin ? undefined : last;
}

/** The hosts of a shape, in the order of its stages. */
export function hostsOf(shape: Shape): Host[] {
  const user: Host[] = linksOf(shape).some(({ from, to }) => from === '' || to === '') ? [''] : [];
  return [...new Set([...shape.stages.map(({ host }) => host), ...user])];
}

function shape(name: string, stages: readonly string[], user: { stdin?: boolean; stdout?: boolean } = {}): Shape {
  return { name, stages: stages.map(stageOf), stdin: user.stdin ?? false, stdout: user.stdout ?? false };
}

function stageOf(text: string): ShapeStage {
  const [host = '', kind = ''] = text.split(':');
  return { host: host as Host, kind: kind as StageKind };
}

function isPlainPipe(left: ShapeStage, right: ShapeStage): boolean {
  return left.host === right.host && left.kind === 'command' && right.kind === 'command';
}
