// SPDX-License-Identifier: Apache-2.0
// The request of the user: refuses the records of another host that name anything else.
#ifndef RD_TREE_REQUEST_H
#define RD_TREE_REQUEST_H

#include "setup/settings.h"
#include "stream/record.h"

struct rd_request; // opaque

// Without sources (of rdrecv, whose user names only the target) any name may be at depth 0; without a target (of the
// programs of the source) the target's own affairs, PLACE and REMOVE, are not checked. `settings` stay the caller's.
// NULL: a pattern is damaged (RD_CODE_USAGE).
struct rd_request *rd_request_create(const struct rd_tree_settings *settings, struct rd_error *error);
void rd_request_destroy(struct rd_request *request); // NULL-safe

// Every record of a stream in turn, before anything is done for it. `directory_fd`: the target's directory that the
// records have led to, in which REMOVE names an entry; -1: it is missing, or no REMOVE may come. False
// (RD_CODE_NOT_REQUESTED), after which no more may be checked: the user did not ask for it; or, in role compare, it is
// the END of a stream without any entry of a source, and without a failure in its place. The message is a noun, for
// the name of a host and "sent" before it; with `alone` it is a line of its own.
bool rd_request_check(struct rd_request *request, const struct rd_record *record, int directory_fd,
                      struct rd_error *error);

#endif
