// SPDX-License-Identifier: Apache-2.0
// The names of the source's users and groups: one OWNER record for each number that occurs.
#ifndef RD_TREE_OWNERS_H
#define RD_TREE_OWNERS_H

#include "stream/stream_writer.h"

struct rd_owner_names; // opaque: the names of this host, and which of them were sent

// Parses /etc/passwd and /etc/group itself: a static program has no other source of names. Never returns NULL.
struct rd_owner_names *rd_owner_names_create(void);
void rd_owner_names_destroy(struct rd_owner_names *names); // NULL-safe

// Sends the names of the entry's user and group, unless they were sent before or are unknown. Returns false if they
// cannot be written.
bool rd_owner_names_put(struct rd_owner_names *names, const struct rd_metadata *metadata,
                        struct rd_stream_writer *writer, struct rd_error *error);

#endif
