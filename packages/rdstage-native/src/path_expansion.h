// SPDX-License-Identifier: Apache-2.0
// One word of a command line, expanded by the host's shell: `~`, `$VAR` and quotes mean what they mean in an
// assignment.
#ifndef RD_STAGE_PATH_EXPANSION_H
#define RD_STAGE_PATH_EXPANSION_H

#include "agent.h"

#include <sys/types.h>

// `path`: what the word stands for (borrowed); NULL: it could not be expanded, `why` says so.
typedef void path_function(void *context, const char *path, const struct rd_error *why);

struct path_expansion;
// Starts a shell. `code` is what a failure is. NULL when there is no starting it; otherwise `function` is called once,
// after `limit_ms` at the latest.
struct path_expansion *path_expand(struct agent *agent, const char *text, enum rd_code code, int64_t limit_ms,
                                   path_function *function, void *context, struct rd_error *error);
void path_expansion_destroy(struct path_expansion *expansion); // NULL-safe; kills a shell that still runs

pid_t path_expansion_pid(const struct path_expansion *expansion); // -1 after its end
// The shell has ended; may call the function.
void path_expansion_reaped(struct path_expansion *expansion, int status);

#endif
