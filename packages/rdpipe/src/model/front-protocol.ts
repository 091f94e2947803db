/**
 * Messages from rdssh's front to its standby: a line each. Bytes are hexadecimal.
 */
import * as v from 'valibot';

const Hex = v.pipe(v.string(), v.regex(/^(?:[0-9a-f]{2})*$/));
/** The content of the file next to the socket, which a program in a sandbox cannot read. */
const Key = v.string();
const AgentLine = v.object({ key: Key, agent: v.string() });
const CommandLine = v.object({
  key: Key,
  /** The same as of the agent's connection. */
  token: v.string(),
  words: v.array(Hex),
  /** NAME=VALUE. */
  environment: v.array(Hex),
  directory: Hex,
  umask: v.number(),
  /** False: standard input is the null device. */
  input: v.boolean(),
  output: v.boolean(),
  /** Columns of the terminal on standard error; 0: it is another file. */
  columns: v.number(),
});
export type FrontCommandLine = v.InferOutput<typeof CommandLine>;
const FrontLine = v.union([
  v.object({ agreed: v.literal(true) }),
  v.object({ signal: v.picklist(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGTSTP', 'SIGCONT']) }),
]);

/** The first line of a connection. @throws Error if it is neither of the two. */
export function decodeFirstLine(line: string): FrontCommandLine | v.InferOutput<typeof AgentLine> {
  return v.parse(v.union([AgentLine, CommandLine]), JSON.parse(line));
}

/** A later line of the connection for a command. @throws Error if it is not one. */
export function decodeFrontLine(line: string): v.InferOutput<typeof FrontLine> {
  return v.parse(FrontLine, JSON.parse(line));
}
