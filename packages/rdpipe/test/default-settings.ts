/** The settings without flags and a config file, so that a new option is not added to every test. */
import { makeSettings } from '../src/config/settings.ts';

export const DEFAULTS = makeSettings({}, { defaults: {}, hosts: new Map() });
