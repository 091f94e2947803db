// SPDX-License-Identifier: Apache-2.0
// The outcome of a call that never waits: done, try again later, or failed.
#ifndef RD_BASE_OUTCOME_H
#define RD_BASE_OUTCOME_H

enum rd_outcome {
  RD_OUTCOME_FAILED = -1, // *error has the reason
  RD_OUTCOME_AGAIN,       // nothing happened: repeat the call after the next event
  RD_OUTCOME_DONE,
};

#endif
