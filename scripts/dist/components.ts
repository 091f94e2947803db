// SPDX-License-Identifier: Apache-2.0
/** All third-party components of the packages, found in the results of the build. */
import { bundledPackages } from './bundled-packages.ts';
import { byPurl, type Component } from './component.ts';
import { type Build, linkedPackages } from './linked-packages.ts';

/**
 * Returns them sorted, for packages with the programs of these builds; default: the checkout's.
 * The bundle and the programs must be built.
 * @throws if a component has no licence.
 */
export function components(builds?: readonly Build[]): readonly Component[] {
  return [...bundledPackages(), ...linkedPackages(builds)].sort(byPurl);
}
