// SPDX-License-Identifier: Apache-2.0
#include "cli/tree_program.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/program_paths.h"
#include "base/settings_file.h"

#include <jansson.h>
#include <sys/random.h>
#include <sys/stat.h>

#define RUN_BYTES 16u

static bool is_tree(const struct rd_options *options, bool *is_right, struct rd_error *error);
static bool is_possible_target(const char *file, struct rd_error *error);
static bool make_settings(struct rd_tree_program *program, const struct rd_options *options, struct rd_error *error);
static json_t *settings_of(const struct rd_options *options, const char *run);
static json_t *path_of(const char *file);

bool rd_tree_program_open(struct rd_tree_program *program, const struct rd_options *options, struct rd_error *error) {
  static char option[] = "--settings-fd", number[] = "3", ring[] = "--ring", memory[] = "4";
  bool is_right = true;
  *program = RD_NO_TREE_PROGRAM;
  if (!is_tree(options, &is_right, error)) return is_right;
  bool is_target = options->role == RD_ROLE_RECEIVER;
  if (is_target && !is_possible_target(options->file, error)) return false;
  if (!rd_program_paths_find("rdtree", program->path, sizeof program->path, error)) return false;
  char *command[] = {program->path, option, number, ring, memory, NULL};
  memcpy(program->command, command, sizeof command);
  struct rd_ring_fds sides[2];
  if (!rd_ring_fds_create(sides, error)) return false;
  program->ring = sides[0];
  program->ours = sides[1];
  return make_settings(program, options, error);
}

void rd_tree_program_forked(struct rd_tree_program *program) {
  rd_ring_fds_close(&program->ring);
}

void rd_tree_program_close(struct rd_tree_program *program) {
  rd_cleanup_fd(&program->settings_fd);
  rd_ring_fds_close(&program->ring);
  rd_ring_fds_close(&program->ours);
}

// Sets *is_right to false, with an error, if FILE is a mistake.
static bool is_tree(const struct rd_options *options, bool *is_right, struct rd_error *error) {
  const char *file = options->file;
  struct stat status;
  bool is_sender = options->role == RD_ROLE_SENDER;
  bool has_slash = file != NULL && file[strlen(file) - 1] == '/';
  bool is_directory = file != NULL && stat(file, &status) == 0 && S_ISDIR(status.st_mode);
  // rdtree would send the link itself, which is hardly what the user wants.
  bool is_link = is_directory && is_sender && lstat(file, &status) == 0 && S_ISLNK(status.st_mode);
  bool is_tree = is_directory || (has_slash && !is_sender);
  if (is_link)
    rd_error_set(error, RD_CODE_USAGE, "%.300s is a symbolic link to a directory (to send its contents: %.150s/)", file,
                 file);
  else if (!is_tree && (options->acls || options->xattrs))
    rd_error_set(error, RD_CODE_USAGE, "-%c needs a FILE that is a directory", options->acls ? 'A' : 'X');
  else
    return is_tree;
  *is_right = false;
  return false;
}

// Checks, as for a file, before a sender connects: FILE must exist, or its parent directory must.
static bool is_possible_target(const char *file, struct rd_error *error) {
  struct stat status;
  if (stat(file, &status) == 0) return true;
  RD_AUTO_FREE char *above = rd_memory_copy(file, strlen(file));
  char *end = above + strlen(above);
  while (end > above && end[-1] == '/') *--end = '\0';
  char *slash = strrchr(above, '/');
  if (slash != NULL) slash[1] = '\0';
  bool is_missing = errno == ENOENT;
  if (is_missing && stat(slash == NULL ? "." : above, &status) == 0) return true;
  rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot write in the directory %.300s", file);
  return false;
}

static bool make_settings(struct rd_tree_program *program, const struct rd_options *options, struct rd_error *error) {
  unsigned char random[RUN_BYTES];
  char run[2 * RUN_BYTES + 1];
  bool is_random = getrandom(random, sizeof random, 0) == (ssize_t)sizeof random;
  rd_hex_encode(random, sizeof random, run, sizeof run);
  json_t *settings = settings_of(options, run);
  if (is_random)
    program->settings_fd = rd_settings_file_create(settings, "rdtree", error);
  else
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot generate a name for the run of rdtree");
  json_decref(settings);
  return program->settings_fd >= 0;
}

// See docs/protocol/trees.md, section 5.5.
static json_t *settings_of(const struct rd_options *options, const char *run) {
  const char *lines = options->quiet ? "quiet" : options->verbose ? "verbose" : "text";
  json_t *settings =
      json_pack("{s:s,s:b,s:b,s:b,s:b,s:b,s:b,s:s}", "run", run, "alone", 1, "sync", 1, "recursive", 1, "archive", 1,
                "acls", options->acls, "xattrs", options->xattrs, "report", options->json ? "events" : lines);
  bool is_sender = options->role == RD_ROLE_SENDER;
  json_object_set_new(settings, "role", json_string(is_sender ? "send" : "write"));
  if (is_sender)
    json_object_set_new(settings, "sources", json_pack("[o]", path_of(options->file)));
  else
    json_object_set_new(settings, "target", path_of(options->file));
  return settings;
}

// Encodes the path as hexadecimal digits. The shell has already expanded a ~; "./" stops rdtree from expanding another.
static json_t *path_of(const char *file) {
  const char *before = file[0] == '~' ? "./" : "";
  size_t bytes = strlen(before) + strlen(file);
  RD_AUTO_FREE char *path = rd_memory_new(bytes + 1, 1);
  RD_AUTO_FREE char *text = rd_memory_new(2 * bytes + 1, 1);
  snprintf(path, bytes + 1, "%s%s", before, file);
  rd_hex_encode((const unsigned char *)path, bytes, text, 2 * bytes + 1);
  return json_string(text);
}
