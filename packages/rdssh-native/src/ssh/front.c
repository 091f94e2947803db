// SPDX-License-Identifier: Apache-2.0
#include "ssh/front.h"

#include "base/memory.h"
#include "base/program_paths.h"
#include "forward/forward.h"
#include "ssh/ask_config.h"
#include "ssh/command_line.h"
#include "ssh/find_ssh.h"
#include "ssh/forward_settings.h"
#include "ssh/standby.h"
#include "ssh/terminal_input.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define OWN_PROGRAM "/proc/self/exe"

// A command line under construction.
struct words {
  char **items;
  size_t count;
};

static bool become(int argc, char **argv, int *status, struct rd_error *error);
static bool become_child(char **command, struct rd_error *error);
static bool become_ssh(const struct rd_ssh_command_line *line, const char *ssh, int argc, char **argv,
                       struct rd_error *error);
static const char *need_of_ssh(const struct rd_ssh_command_line *line);
static bool has_keys(const struct rd_ssh_command_line *line);
static bool can_log(const struct rd_ssh_command_line *line);
static void say_reason(const struct rd_ssh_command_line *line);
static bool become_ours(const struct rd_ssh_command_line *line, const struct rd_ssh_forward_settings *settings,
                        const char *rdpipe, const char *ssh, int *status, struct rd_error *error);
static bool may_use_standby(const struct rd_ssh_command_line *line, const char *ssh);
static void read_forward_settings(const struct rd_ssh_command_line *line, const char *ssh,
                                  struct rd_ssh_forward_settings *settings);
static void ask_config(const struct rd_ssh_command_line *line, const char *ssh);
static char **options_of(const struct rd_ssh_command_line *line);
static void add_forwards(struct words *words, const struct rd_ssh_command_line *line,
                         const struct rd_ssh_forward_settings *settings);
static void add_command(struct words *words, const struct rd_ssh_command_line *line);
static bool prepare_environment(struct rd_error *error);
static void add_settings(struct words *words, const struct rd_ssh_command_line *line, const char *ssh);
static bool execute(struct words *words, const char *file, struct rd_error *error);
static bool is_own(const struct rd_ssh_command_line *line, const char *word);
static void add(struct words *words, const char *word);
static void add_pair(struct words *words, const char *option, const char *value);

int rd_ssh_main(int argc, char **argv) {
  struct rd_error error;
  int status;
  if (become(argc, argv, &status, &error)) return status;
  fprintf(stderr, "rdssh: %s\n", error.message);
  return 255;
}

// Returns false on failure, or true with the exit status of a command that a standby ran.
static bool become(int argc, char **argv, int *status, struct rd_error *error) {
  if (argc > 2 && strcmp(argv[1], "--die-with-parent") == 0) return become_child(argv + 2, error);
  if (argc < 2) {
    rd_error_set(error, RD_CODE_USAGE, "started without the path of rdpipe (bin/rdssh starts it)");
    return false;
  }
  const char *rdpipe = argv[1];
  struct rd_ssh_command_line line;
  rd_ssh_command_line_parse(&line, argc - 1, argv + 1, isatty(STDIN_FILENO));
  char found[4096];
  const char *ssh = line.ssh_program != NULL ? line.ssh_program : rd_find_ssh(found, sizeof found);
  struct rd_ssh_forward_settings settings;
  read_forward_settings(&line, ssh, &settings);
  const char *need = line.use == RD_SSH_COMMAND ? need_of_ssh(&line) : NULL;
  if (need != NULL) {
    line.use = RD_SSH_ITSELF;
    line.reason = need;
  }
  bool became = line.use == RD_SSH_ITSELF || settings.for_ssh
                    ? become_ssh(&line, ssh, argc - 2, argv + 2, error)
                    : become_ours(&line, &settings, rdpipe, ssh, status, error);
  rd_ssh_forward_settings_destroy(&settings);
  rd_ssh_command_line_destroy(&line);
  return became;
}

// rdpipe starts ssh with this if a host needs ssh itself.
static bool become_child(char **command, struct rd_error *error) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  execv(command[0], command);
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot run %s", command[0]);
  return false;
}

// Passes the user's words to ssh unchanged.
static bool become_ssh(const struct rd_ssh_command_line *line, const char *ssh, int argc, char **argv,
                       struct rd_error *error) {
  struct words words = {0};
  if (ssh == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "this command line needs ssh, which is not installed on this machine");
    return false;
  }
  if (line->verbose > 0 && !line->quiet) say_reason(line);
  add(&words, "ssh");
  for (int i = 0; i < argc; i++)
    if (!is_own(line, argv[i])) add(&words, argv[i]);
  return execute(&words, ssh, error);
}

// Returns why only ssh can run the command; NULL: rdpipe can too.
static const char *need_of_ssh(const struct rd_ssh_command_line *line) {
  char directory[4096];
  if (!can_log(line)) return "the file of -E cannot be opened";
  if (!has_keys(line)) return "the file of -i cannot be found";
  // rdpipe enters it again for each program that it starts.
  bool can_enter = getcwd(directory, sizeof directory) != NULL && access(directory, X_OK) == 0;
  return can_enter ? NULL : "the working directory cannot be entered";
}

// ssh warns of a missing one. It expands the home directory itself.
static bool has_keys(const struct rd_ssh_command_line *line) {
  for (size_t i = 0; i < line->keys.count; i++)
    if (line->keys.items[i][0] != '~' && access(line->keys.items[i], F_OK) < 0) return false;
  return true;
}

static bool can_log(const struct rd_ssh_command_line *line) {
  if (line->log_file == NULL) return true;
  FILE *log = fopen(line->log_file, "ae");
  return log != NULL && fclose(log) == 0;
}

// ssh writes its own messages to the same place.
static void say_reason(const struct rd_ssh_command_line *line) {
  FILE *log = line->log_file != NULL ? fopen(line->log_file, "ae") : NULL;
  const char *reason = line->reason != NULL ? line->reason : "only ssh supports forwards of its configuration";
  if (line->log_file == NULL || log != NULL)
    fprintf(log != NULL ? log : stderr, "rdssh: ssh runs this command line: %s\n", reason);
  if (log != NULL) fclose(log);
}

// Becomes rdpipe, or rdforward, which starts rdpipe.
static bool become_ours(const struct rd_ssh_command_line *line, const struct rd_ssh_forward_settings *settings,
                        const char *rdpipe, const char *ssh, int *status, struct rd_error *error) {
  struct words words = {0};
  bool reads_terminal = line->use == RD_SSH_COMMAND && !line->no_input && isatty(STDIN_FILENO);
  if (reads_terminal && !rd_terminal_input_start(error)) return false;
  if (line->use == RD_SSH_FORWARDS) add_forwards(&words, line, settings);
  size_t name = words.count;
  add(&words, line->use == RD_SSH_FORWARDS ? rdpipe : "rdssh");
  add_settings(&words, line, ssh);
  if (line->use != RD_SSH_HELP) add_command(&words, line);
  if (may_use_standby(line, ssh)) {
    add(&words, NULL);
    if (rd_standby_run(words.items + name + 1, !line->no_input, status)) {
      free(words.items);
      return true;
    }
    words.count--;
  }
  if (line->use == RD_SSH_COMMAND && ssh != NULL) ask_config(line, ssh);
  return prepare_environment(error) && execute(&words, line->use == RD_SSH_FORWARDS ? OWN_PROGRAM : rdpipe, error);
}

// -v explains what is done from the start on. A connection would take the number of a closed standard descriptor.
static bool may_use_standby(const struct rd_ssh_command_line *line, const char *ssh) {
  bool are_open = true;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) are_open = are_open && fcntl(fd, F_GETFD) >= 0;
  return line->use == RD_SSH_COMMAND && ssh != NULL && line->verbose == 0 && are_open;
}

// Without an answer ssh's defaults apply, except that every forward must listen.
static void read_forward_settings(const struct rd_ssh_command_line *line, const char *ssh,
                                  struct rd_ssh_forward_settings *settings) {
  *settings = (struct rd_ssh_forward_settings){.all_or_none = true};
  if (line->use != RD_SSH_FORWARDS || ssh == NULL) return;
  char **options = options_of(line);
  char *answer = rd_read_ssh_config(ssh, line->config_file, (const char *const *)options, line->host);
  if (answer != NULL) rd_ssh_forward_settings_parse(settings, answer);
  free(answer);
  free(options);
}

static void ask_config(const struct rd_ssh_command_line *line, const char *ssh) {
  char **options = options_of(line);
  rd_ask_ssh_config(ssh, line->config_file, (const char *const *)options, line->host);
  free(options);
}

static char **options_of(const struct rd_ssh_command_line *line) {
  struct words options = {0};
  for (size_t i = 0; i < line->options.count; i++) add(&options, line->options.items[i]);
  add(&options, NULL);
  return options.items;
}

static void add_forwards(struct words *words, const struct rd_ssh_command_line *line,
                         const struct rd_ssh_forward_settings *settings) {
  add(words, "rdhop");
  add(words, RD_FORWARD_NAME);
  if (line->gateway_ports || settings->gateway_ports) add(words, "--gateway-ports");
  if (settings->replace_sockets) add(words, "--replace-sockets");
  if (!settings->all_or_none) add(words, "--keep-going");
  if (line->background) add(words, "--background");
  for (size_t i = 0; i < line->forwards.count; i++) add(words, line->forwards.items[i]);
  for (size_t i = 0; i < settings->forwards.count; i++) add(words, settings->forwards.items[i]);
  add(words, "--");
}

static void add_command(struct words *words, const struct rd_ssh_command_line *line) {
  add(words, "--");
  add(words, line->use == RD_SSH_FORWARDS ? "forward" : line->subsystem ? "subsystem" : "command");
  add(words, line->log_file != NULL ? line->log_file : "");
  add(words, line->host);
  for (size_t i = 0; i < line->command.count; i++) add(words, line->command.items[i]);
}

static bool prepare_environment(struct rd_error *error) {
  char directory[4096];
  if (!rd_program_paths_directory(directory, sizeof directory, error)) return false;
  if (setenv("RDPIPE_PROGRAM", "rdssh", 1) < 0 || setenv("RDPIPE_LOCAL_DIRECTORY", directory, 1) < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start rdpipe");
    return false;
  }
  return true;
}

static void add_settings(struct words *words, const struct rd_ssh_command_line *line, const char *ssh) {
  if (line->quiet) add(words, "--quiet");
  for (unsigned i = 0; i < line->verbose && i < 2 && !line->quiet; i++) add(words, "--verbose");
  if (line->compress) add_pair(words, "--compress", "zstd");
  if (line->no_input) add_pair(words, "--stdin", "none");
  if (line->config_file != NULL) add_pair(words, "-F", line->config_file);
  if (ssh != NULL && line->ssh_program == NULL) add_pair(words, "--ssh-program", ssh);
  for (size_t i = 0; i < line->options.count; i++) add_pair(words, "-o", line->options.items[i]);
  for (size_t i = 0; i < line->own.count; i++) add(words, line->own.items[i]);
}

static bool execute(struct words *words, const char *file, struct rd_error *error) {
  add(words, NULL);
  execv(file, words->items);
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot run %s", file);
  free(words->items);
  return false;
}

static bool is_own(const struct rd_ssh_command_line *line, const char *word) {
  for (size_t i = 0; i < line->own.count; i++)
    if (line->own.items[i] == word) return true;
  return false;
}

static void add_pair(struct words *words, const char *option, const char *value) {
  add(words, option);
  add(words, value);
}

static void add(struct words *words, const char *word) {
  words->items = rd_memory_resize(words->items, words->count + 1, sizeof *words->items);
  words->items[words->count++] = (char *)(size_t)word; // execv() does not change them
}
