// SPDX-License-Identifier: Apache-2.0
// JSON values whose creation cannot fail: the process aborts if memory is exhausted (memory.h).
#ifndef RD_STAGE_JSON_MADE_H
#define RD_STAGE_JSON_MADE_H

#include <jansson.h>

// Returns `value`; never NULL.
json_t *rd_json_made(json_t *value);
// Returns text of unknown origin, made safe for JSON and for a terminal; JSON null for NULL.
json_t *rd_json_made_text(const char *text);
// Appends `value` and gives up the reference to it.
void rd_json_made_append(json_t *array, json_t *value);

#endif
