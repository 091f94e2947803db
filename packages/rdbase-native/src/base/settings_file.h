// SPDX-License-Identifier: Apache-2.0
// Settings for a program, in an unnamed file (memfd).
// The file holds all of them before the program runs: a pipe holds less, and other users can read arguments and
// environment.
#ifndef RD_BASE_SETTINGS_FILE_H
#define RD_BASE_SETTINGS_FILE_H

#include "base/error.h"

#include <jansson.h>

// Returns a close-on-exec descriptor at the beginning of the file; -1 on failure. `program` is for the error message.
int rd_settings_file_create(const json_t *settings, const char *program, struct rd_error *error);

#endif
