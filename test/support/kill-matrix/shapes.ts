// SPDX-License-Identifier: Apache-2.0
// The pipelines of the kill matrix, and the programs that join their stages.

export type Host = '' | 'h1' | 'h2' | 'h3';
export type StageKind = 'source' | 'command' | 'sink';

export interface ShapeStage {
  /** Empty: this machine. */
  readonly host: Host;
  readonly kind: StageKind;
}

export interface Shape {
  readonly name: string;
  /** From left to right: stage 1 is the first. */
  readonly stages: readonly ShapeStage[];
  /** The user's standard input is sent; standard output arrives. */
  readonly stdin: boolean;
  readonly stdout: boolean;
}

/** Link k joins stage k and stage k + 1; 0 and the last one join the user. */
export interface ShapeLink {
  readonly number: number;
  /** Where its rdsend and rdrecv run. */
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

/** On this machine alone. */
export const LOCAL_SHAPES: readonly Shape[] = [
  shape('local: stdin, stdout', [':command'], { stdin: true, stdout: true }),
  shape('local: file, command', [':source', ':command']),
  shape('local: command, command, file', [':command', ':command', ':sink']),
  shape('local: five', [':source', ':command', ':command', ':command', ':sink']),
];

/** The links that need programs: no pipe between two commands of a host, nor a command on the user's own descriptor. */
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

/** The command that keeps everything waiting where a consumer is to be slow: the last one, if it has an input. */
export function slowStageOf(shape: Shape): number | undefined {
  const last = commandsOf(shape).at(-1);
  return last === 1 && !shape.stdin ? undefined : last;
}

/** Every host of a shape, in the order of its stages. */
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
