import { createLocalSession } from '../../src/session/local.ts';
import { itConforms } from './conformance.ts';

describe('the session of this machine', () => {
  itConforms(async () => createLocalSession());
});
