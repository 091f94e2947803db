// SPDX-License-Identifier: Apache-2.0
// Expands a file name with the host's shell.
// `~`, `$VAR` and quotes have the meaning that they have in an assignment.
#ifndef RD_STAGE_PATH_EXPANSION_H
#define RD_STAGE_PATH_EXPANSION_H

#include "run/agent.h"

#include <sys/types.h>

// `path`: the expanded name (borrowed). NULL: the name could not be expanded, and `why` has the reason.
typedef void rd_path_function(void *context, const char *path, const struct rd_error *why);

struct rd_path_expansion;
// Starts a shell. `code` is the code of a later failure. Returns NULL if the shell cannot be started; otherwise
// `function` is called once, within `limit_ms`.
struct rd_path_expansion *rd_path_expand(struct rd_agent *agent, const char *text, enum rd_code code, int64_t limit_ms,
                                         rd_path_function *function, void *context, struct rd_error *error);
void rd_path_expansion_destroy(struct rd_path_expansion *expansion); // NULL-safe; kills a shell that still runs

pid_t rd_path_expansion_pid(const struct rd_path_expansion *expansion); // -1 after the shell has ended
// The shell has ended; may call the function.
void rd_path_expansion_reaped(struct rd_path_expansion *expansion, int status);

#endif
