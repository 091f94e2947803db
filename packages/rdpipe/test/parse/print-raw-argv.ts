import { writeSync } from 'node:fs';
import { readRawArgv } from '../../src/parse/raw-argv.ts';

writeSync(1, JSON.stringify(readRawArgv()));
