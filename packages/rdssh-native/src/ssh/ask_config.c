// SPDX-License-Identifier: Apache-2.0
#include "ssh/ask_config.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Longer questions are left to rdpipe.
#define WORDS_MAX 200
#define READ_BYTES 16384u

struct question {
  const char *words[WORDS_MAX + 1];
  size_t count;
  char lines[8192];
  size_t length;
  bool fits;
};

static pid_t ask(struct question *question, const char *ssh, const char *config_file, const char *const *options,
                 const char *host, int *answer_fd);
static bool is_binary(const char *path);
static void add(struct question *question, const char *word);
static pid_t start(const char *ssh, const struct question *question, int *answer_fd);
static _Noreturn void answer(const char *ssh, const struct question *question, int out_fd);

void rd_ask_ssh_config(const char *ssh, const char *config_file, const char *const *options, const char *host) {
  struct question question;
  int answer_fd = -1;
  if (ask(&question, ssh, config_file, options, host, &answer_fd) < 0) return;
  char value[sizeof question.lines + 16];
  snprintf(value, sizeof value, "%d%.*s", answer_fd, (int)question.length, question.lines);
  if (setenv(RD_SSH_CONFIG_VARIABLE, value, 1) < 0) close(answer_fd);
}

char *rd_read_ssh_config(const char *ssh, const char *config_file, const char *const *options, const char *host) {
  struct question question;
  RD_AUTO_CLOSE int answer_fd = -1;
  pid_t child = ask(&question, ssh, config_file, options, host, &answer_fd);
  if (child < 0) return NULL;
  char *text = NULL;
  size_t bytes = 0;
  ssize_t got = 1;
  while (got > 0) {
    text = rd_memory_resize(text, bytes + READ_BYTES, 1);
    got = rd_read_some(answer_fd, text + bytes, READ_BYTES);
    if (got > 0) bytes += (size_t)got;
  }
  waitpid(child, NULL, 0);
  if (got == 0 && bytes > 0 && text[bytes - 1] == '\0') return text;
  free(text);
  return NULL;
}

static pid_t ask(struct question *question, const char *ssh, const char *config_file, const char *const *options,
                 const char *host, int *answer_fd) {
  *question = (struct question){.fits = true};
  add(question, "ssh");
  question->length = 0;
  add(question, "-G");
  if (config_file != NULL) add(question, "-F");
  if (config_file != NULL) add(question, config_file);
  for (; *options != NULL; options++) {
    add(question, "-o");
    add(question, *options);
  }
  add(question, "--");
  add(question, host);
  return question->fits && is_binary(ssh) ? start(ssh, question, answer_fd) : -1;
}

static bool is_binary(const char *path) {
  char magic[4] = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool found = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, "\177ELF", 4) == 0;
  if (fd >= 0) close(fd);
  return found;
}

static void add(struct question *question, const char *word) {
  size_t bytes = strlen(word);
  question->fits = question->fits && question->count < WORDS_MAX &&
                   question->length + bytes + 1 < sizeof question->lines && strchr(word, '\n') == NULL;
  if (!question->fits) return;
  question->words[question->count++] = word;
  question->lines[question->length++] = '\n';
  memcpy(question->lines + question->length, word, bytes);
  question->length += bytes;
}

// Returns -1 on failure.
static pid_t start(const char *ssh, const struct question *question, int *answer_fd) {
  int ends[2];
  if (pipe(ends) < 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    answer(ssh, question, ends[1]);
  }
  close(ends[1]);
  if (child < 0)
    close(ends[0]);
  else
    *answer_fd = ends[0];
  return child;
}

// Keeps no other descriptor open: a reader of this program's output waits for the last writer.
static _Noreturn void answer(const char *ssh, const struct question *question, int out_fd) {
  int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0) _exit(EXIT_FAILURE);
  if (dup2(out_fd, STDOUT_FILENO) < 0) _exit(EXIT_FAILURE);
  pid_t child = fork();
  if (child == 0) {
    close(nothing);
    close(out_fd);
    execv(ssh, (char **)(size_t)question->words); // execv() does not change them
    _exit(EXIT_FAILURE);
  }
  close(out_fd);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) _exit(EXIT_FAILURE);
  _exit(child > 0 && status == 0 && rd_write_all(STDOUT_FILENO, "", 1) ? EXIT_SUCCESS : EXIT_FAILURE);
}
