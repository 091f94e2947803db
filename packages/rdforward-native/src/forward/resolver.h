// SPDX-License-Identifier: Apache-2.0
// Looks up the names of targets in a thread, so that a slow lookup does not delay other connections.
#ifndef RD_FORWARD_RESOLVER_H
#define RD_FORWARD_RESOLVER_H

#include "base/outcome.h"
#include "forward/dial.h"
#include "forward/specs.h"

#include <stdint.h>

struct rd_resolver; // opaque; its thread starts with the first name

struct rd_resolution {
  uint64_t stream;
  struct rd_dial dial;
  struct rd_error error; // if `dial` has no address
};

// Returns NULL (RD_CODE_INTERNAL) on failure.
struct rd_resolver *rd_resolver_create(struct rd_error *error);
// NULL-safe. If a lookup is still running, its thread remains until the process ends.
void rd_resolver_destroy(struct rd_resolver *resolver);

// DONE: `dial` has the addresses; AGAIN: rd_resolver_take() will return them for that connection; FAILED: there are
// none.
enum rd_outcome rd_resolver_find(struct rd_resolver *resolver, uint64_t stream, const struct rd_place *target,
                                 struct rd_dial *dial, struct rd_error *error);
// Readable when rd_resolver_take() has a result.
int rd_resolver_fd(const struct rd_resolver *resolver);
bool rd_resolver_take(struct rd_resolver *resolver, struct rd_resolution *resolution);

#endif
