/** The SSH_ASKPASS program: passes ssh's question to the running rdpipe and prints the answer. */
import { writeSync } from 'node:fs';
import { connect } from 'node:net';
import { decodeAnswer, encodeQuestion } from '../session/prompts/askpass-protocol.ts';

const path = process.env.RDPIPE_ASKPASS;
if (path === undefined) {
  writeSync(2, 'rdpipe-askpass: this program is for ssh, do not run it by hand\n');
  process.exit(2);
}

const socket = connect(path);
let line = '';
socket.setEncoding('utf8');
socket.write(
  encodeQuestion({
    id: process.env.RDPIPE_ASKPASS_ID ?? '',
    text: process.argv[2] ?? '',
    hint: process.env.SSH_ASKPASS_PROMPT ?? '',
  }),
);
socket.on('data', (chunk: string) => {
  line += chunk;
});
socket.on('error', () => process.exit(1));
socket.on('end', () => {
  const answer = decodeAnswer(line);
  if (answer === undefined) process.exit(1);
  writeSync(1, `${answer}\n`);
  process.exit(0);
});
