/** A program that prints on standard error how its standard input and output would be used. */
import { writeSync } from 'node:fs';
import { userStreams } from '../../src/cli/user-streams.ts';

writeSync(2, JSON.stringify(userStreams({ stdin: process.env.WANTED_STDIN === 'none' ? 'none' : 'auto' })));
