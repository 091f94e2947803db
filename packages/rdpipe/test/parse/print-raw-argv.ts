import { writeSync } from 'node:fs';
import { readRawArgv } from '../../src/parse/binary-string.ts';

writeSync(1, JSON.stringify(readRawArgv()));
