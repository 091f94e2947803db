// SPDX-License-Identifier: Apache-2.0
// Users and groups of the source by name: one OWNER record for each number that occurs.
#ifndef RD_TREE_OWNERS_H
#define RD_TREE_OWNERS_H

#include "stream/stream_writer.h"

struct rd_owner_names; // opaque: the names of this host, and the numbers that were sent

// Reads /etc/passwd and /etc/group by itself: a static program has no other source of names. Never NULL.
struct rd_owner_names *rd_owner_names_create(void);
void rd_owner_names_destroy(struct rd_owner_names *names); // NULL-safe

// Sends the names of both, unless they were sent before or have none.
bool rd_owner_names_put(struct rd_owner_names *names, const struct rd_metadata *metadata,
                        struct rd_stream_writer *writer, struct rd_error *error);

#endif
