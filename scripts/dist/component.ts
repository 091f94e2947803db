// SPDX-License-Identifier: Apache-2.0
/** A third-party component of the packages, as the notices and the bill of materials describe it. */

export interface Component {
  readonly name: string;
  readonly version: string;
  /** Identifies it everywhere: `pkg:npm/chalk@5.6.2`, `pkg:deb/debian/libssl-dev@3.0.22-1?arch=amd64`. */
  readonly purl: string;
  /** An SPDX expression. */
  readonly licence: string;
  readonly website: string;
  /** The licence and the notices, unchanged. */
  readonly texts: readonly string[];
  /** purls of the components that it uses. */
  readonly uses: readonly string[];
  /** The programs that contain it, such as `linux-x86_64/static/rdhop`; empty if it is in the bundle. */
  readonly programs: readonly string[];
}

export function makePurl(
  type: string,
  name: string,
  version: string,
  qualifiers: Readonly<Record<string, string>> = {},
) {
  const query = new URLSearchParams(Object.entries(qualifiers).sort(([a], [b]) => (a < b ? -1 : 1))).toString();
  const path = name.split('/').map(encodeURIComponent).join('/');
  return `pkg:${type}/${path}@${encodeURIComponent(version)}${query === '' ? '' : `?${query}`}`;
}

/** Compares by bytes, independent of the locale. */
export function byPurl(a: Component, b: Component): number {
  return a.purl < b.purl ? -1 : Number(a.purl > b.purl);
}
