// SPDX-License-Identifier: Apache-2.0
// The reasons of failed steps that a set-up knows from their logs, each with the next step.

const REASONS = [
  [
    /ENOSPC: |code ENOSPC|No space left on device|not have enough free space/i,
    'the disk is full; make room, then try again',
  ],
  [
    /Could not get lock|Unable to acquire the dpkg/i,
    'another program installs packages just now; try again when it is done',
  ],
  [
    /^E: (?:Unable to fetch|Failed to fetch|Unable to locate package|Package '.*' has no installation candidate)/m,
    'apt-get cannot load the packages; see that this machine reaches its mirror (apt-get update), then try again',
  ],
  [
    /(?:code |error \()(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|E\w+UNREACH|ERR_SOCKET_TIMEOUT)|ERR_PNPM_META_FETCH_FAIL/,
    'the npm registry cannot be reached (npm ping); connect this machine or set its proxy, then try again',
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_HAS_EXPIRED/,
    "the npm registry's certificate is not known here; name its authority's file in NODE_EXTRA_CA_CERTS, then try again",
  ],
  [
    /EACCES: |EROFS: |code (?:EACCES|EROFS)|: Permission denied$/m,
    'this user may not write where it has to; the checkout must be your own',
  ],
];

/** Undefined for a log that shows none of them. `isFull`: a disk that the step writes to has no room. */
export function reasonOf(log, { isFull }) {
  if (isFull) return REASONS[0][1];
  return REASONS.find(([pattern]) => pattern.test(log))?.[1];
}
