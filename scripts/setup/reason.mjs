// SPDX-License-Identifier: Apache-2.0
// Reasons of failed steps, recognized from their logs, each with the next step.

const REASONS = [
  [
    /ENOSPC: |code ENOSPC|No space left on device|not have enough free space/i,
    'the disk is full; free some space, then try again',
  ],
  [
    /Could not get lock|Unable to acquire the dpkg/i,
    'another program is installing packages; try again when it is done',
  ],
  [
    /^E: (?:Unable to fetch|Failed to fetch|Unable to locate package|Package '.*' has no installation candidate)/m,
    'apt-get cannot load the packages; check that this machine reaches its mirror (apt-get update), then try again',
  ],
  [
    /(?:code |error \()(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|E\w+UNREACH|ERR_SOCKET_TIMEOUT)|ERR_PNPM_META_FETCH_FAIL/,
    'the npm registry cannot be reached (npm ping); connect this machine or set its proxy, then try again',
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_HAS_EXPIRED/,
    "the npm registry's certificate is not trusted; set NODE_EXTRA_CA_CERTS to its authority's file, then try again",
  ],
  [
    /EACCES: |EROFS: |code (?:EACCES|EROFS)|: Permission denied$/m,
    'permission denied; the checkout must belong to you',
  ],
];

/** The reason that `log` shows; undefined: none is recognized. `isFull`: a disk that the step writes to is full. */
export function reasonOf(log, { isFull }) {
  if (isFull) return REASONS[0][1];
  return REASONS.find(([pattern]) => pattern.test(log))?.[1];
}
