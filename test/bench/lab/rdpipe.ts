// SPDX-License-Identifier: Apache-2.0
import { ROOT } from '../../support/root.ts';
import { PATIENCE, type Setup } from './setup.ts';

/** The command line of rdpipe on this machine. */
export function rdpipe({ sshConfig }: Setup, words: string): string {
  return `${ROOT}/bin/rdpipe -F ${sshConfig} --stdin none ${PATIENCE} ${words}`;
}
