// SPDX-License-Identifier: Apache-2.0
/** Types of the functions that TypeScript uses. */

/** Debian packages for a build of the static programs for both CPUs. */
export function staticPackages(): readonly string[];
/** Debian's name of the other CPU. */
export function foreignArchitecture(): string;
/** The words before a command that run it as root; undefined if that is not possible. */
export function rootPrefix(): readonly string[] | undefined;
