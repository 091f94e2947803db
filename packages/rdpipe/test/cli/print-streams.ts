/** A program that tells on standard error what it sees of its own standard input and output. */
import { writeSync } from 'node:fs';
import { userStreams } from '../../src/cli/user-streams.ts';

writeSync(2, JSON.stringify(userStreams({ stdin: process.env.WANTED_STDIN === 'none' ? 'none' : 'auto' })));
