// SPDX-License-Identifier: Apache-2.0
// Looks up the names of targets in a thread, so that a slow one holds up no connection.
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
  struct rd_error error; // where dial has no address
};

struct rd_resolver *rd_resolver_create(struct rd_error *error);
// NULL-safe. A name that is being looked up then holds the thread until the process ends.
void rd_resolver_destroy(struct rd_resolver *resolver);

// DONE: `dial` has the addresses; AGAIN: rd_resolver_take() will have them for that connection; FAILED: there are none.
enum rd_outcome rd_resolver_find(struct rd_resolver *resolver, uint64_t stream, const struct rd_place *target,
                                 struct rd_dial *dial, struct rd_error *error);
// Readable when rd_resolver_take() has something.
int rd_resolver_fd(const struct rd_resolver *resolver);
bool rd_resolver_take(struct rd_resolver *resolver, struct rd_resolution *resolution);

#endif
