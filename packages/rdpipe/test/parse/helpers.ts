import { UsageError } from '../../src/model/errors.ts';
import type { Pipeline } from '../../src/model/pipeline.ts';
import type { Settings } from '../../src/model/settings.ts';
import { parseStages } from '../../src/parse/stage.ts';

/** Text as it is in the command line: one character per byte. */
export function binary(text: string): string {
  return Buffer.from(text).toString('latin1');
}

export const PLAIN_SETTINGS: Pick<Settings, 'shell' | 'ok' | 'namedHosts' | 'groups' | 'launcher'> = {
  shell: { all: 'sh', hosts: new Map() },
  ok: { all: [], stages: new Map() },
  namedHosts: [],
  groups: new Map(),
  launcher: { all: { kind: 'ssh' }, hosts: new Map() },
};

type StageSettings = typeof PLAIN_SETTINGS;

export function parse(
  words: readonly string[],
  settings: Partial<StageSettings> = {},
  optionWords: readonly string[] = [],
): Pipeline {
  return parseWords(words.map(binary), settings, optionWords);
}

/** Like `parse`, for words that are already bytes. */
export function parseWords(
  words: readonly string[],
  settings: Partial<StageSettings> = {},
  optionWords: readonly string[] = [],
): Pipeline {
  return parseStages(words, { optionWords, settings: { ...PLAIN_SETTINGS, ...settings } });
}

/** The UsageError that `run` throws; any other result fails the test. */
export function usageErrorOf(run: () => unknown): UsageError {
  try {
    run();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
