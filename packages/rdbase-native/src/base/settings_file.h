// SPDX-License-Identifier: Apache-2.0
// Settings for a program, in a file without a name.
// It takes them whole before the program runs: a pipe holds less, and others can read arguments and environment.
#ifndef RD_BASE_SETTINGS_FILE_H
#define RD_BASE_SETTINGS_FILE_H

#include "base/error.h"

#include <jansson.h>

// A descriptor, close-on-exec, at the file's beginning; -1 on failure. `program` is for the message.
int rd_settings_file_create(const json_t *settings, const char *program, struct rd_error *error);

#endif
