// SPDX-License-Identifier: Apache-2.0
// JSON values whose creation cannot fail: without memory the process aborts (memory.h).
#ifndef RD_STAGE_JSON_MADE_H
#define RD_STAGE_JSON_MADE_H

#include <jansson.h>

// The value itself; never NULL.
json_t *rd_json_made(json_t *value);
// Text of unknown origin, made safe for JSON and for a terminal; null for NULL.
json_t *rd_json_made_text(const char *text);
// Gives up the reference to `value`.
void rd_json_made_append(json_t *array, json_t *value);

#endif
