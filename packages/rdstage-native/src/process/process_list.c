// SPDX-License-Identifier: Apache-2.0
#include "process/process_list.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH_MAX 4096

static bool has_children(void);
static bool list_matching(pid_t root, bool with_group, struct rd_process_list *list, struct rd_error *error);
static bool list_all(struct rd_process_list *list, struct rd_error *error);
static bool read_process(pid_t pid, struct rd_process *process);
static ssize_t read_file(pid_t pid, const char *name, char *text, size_t text_bytes);
static int by_pid(const void *left, const void *right);
static bool belongs(const struct rd_process_list *all, const struct rd_process *process, pid_t root, bool with_group);

// A subreaper without children has no descendants: after a run that ended well, /proc need not be searched.
bool rd_process_list_below(pid_t root, struct rd_process_list *list, struct rd_error *error) {
  *list = (struct rd_process_list){0};
  if (root == getpid() && !has_children()) return true;
  return list_matching(root, false, list, error);
}

bool rd_process_list_group(pid_t leader, struct rd_process_list *list, struct rd_error *error) {
  return list_matching(leader, true, list, error);
}

void rd_process_list_clear(struct rd_process_list *list) {
  free(list->items);
  *list = (struct rd_process_list){0};
}

// pid_fd refers to the process that has the pid now; the start time shows whether this is the listed process. Without a
// pid_fd (Linux before 5.3, or no descriptor is left) a short race remains.
int rd_process_signal(const struct rd_process *process, int number) {
  RD_AUTO_CLOSE int pid_fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
  if (pid_fd < 0 && errno == ESRCH) return ESRCH;
  struct rd_process now;
  if (!read_process(process->pid, &now) || now.started != process->started) return ESRCH;
  long sent = pid_fd < 0 ? kill(process->pid, number) : syscall(SYS_pidfd_send_signal, pid_fd, number, NULL, 0);
  return sent < 0 ? errno : 0;
}

bool rd_process_is_foreign(pid_t pid) {
  char text[4096];
  if (geteuid() == 0 || read_file(pid, "status", text, sizeof text) <= 0) return false;
  const char *line = strstr(text, "\nUid:");
  unsigned long real, effective;
  return line != NULL && sscanf(line, "\nUid: %lu %lu", &real, &effective) == 2 && effective != geteuid();
}

void rd_process_command(pid_t pid, char *text, size_t text_bytes) {
  ssize_t bytes = read_file(pid, "cmdline", text, text_bytes);
  while (bytes > 0 && text[bytes - 1] == '\0') bytes--;
  for (ssize_t i = 0; i < bytes; i++)
    if (text[i] == '\0') text[i] = ' ';
  if (bytes <= 0) bytes = read_file(pid, "comm", text, text_bytes) - 1; // ends in a newline
  if (bytes < 0) bytes = 0;
  text[bytes] = '\0';
  rd_text_clean(text, (size_t)bytes);
}

static bool has_children(void) {
  siginfo_t info;
  return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || errno != ECHILD;
}

static bool list_matching(pid_t root, bool with_group, struct rd_process_list *list, struct rd_error *error) {
  *list = (struct rd_process_list){0};
  struct rd_process_list all = {0};
  if (!list_all(&all, error)) return false;
  list->items = rd_memory_new(all.count, sizeof *list->items);
  for (size_t i = 0; i < all.count; i++) {
    const struct rd_process *process = &all.items[i];
    if (process->state == 'Z' || process->state == 'X') continue;
    if (belongs(&all, process, root, with_group)) list->items[list->count++] = *process;
  }
  rd_process_list_clear(&all);
  return true;
}

static bool list_all(struct rd_process_list *list, struct rd_error *error) {
  DIR *directory = opendir("/proc");
  if (directory == NULL) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot read /proc");
    return false;
  }
  size_t capacity = 0;
  for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    struct rd_process process;
    if (!isdigit((unsigned char)entry->d_name[0]) || !read_process(atoi(entry->d_name), &process)) continue;
    if (list->count == capacity) {
      capacity = capacity ? 2 * capacity : 256;
      list->items = rd_memory_resize(list->items, capacity, sizeof *list->items);
    }
    list->items[list->count++] = process;
  }
  closedir(directory);
  if (list->count) qsort(list->items, list->count, sizeof *list->items, by_pid);
  return true;
}

// Returns false if the process has ended meanwhile.
static bool read_process(pid_t pid, struct rd_process *process) {
  char text[1024];
  if (read_file(pid, "stat", text, sizeof text) <= 0) return false;
  const char *after_name = strrchr(text, ')'); // the name may contain anything
  process->pid = pid;
  return after_name != NULL &&
         sscanf(after_name + 1, " %c %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                &process->state, &process->parent, &process->group, &process->started) == 4;
}

static ssize_t read_file(pid_t pid, const char *name, char *text, size_t text_bytes) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd < 0 ? -1 : rd_read_some(fd, text, text_bytes - 1);
  text[bytes > 0 ? bytes : 0] = '\0';
  return bytes;
}

static int by_pid(const void *left, const void *right) {
  pid_t a = ((const struct rd_process *)left)->pid, b = ((const struct rd_process *)right)->pid;
  return (a > b) - (a < b);
}

static bool belongs(const struct rd_process_list *all, const struct rd_process *process, pid_t root, bool with_group) {
  if (process->pid == root) return with_group;
  for (int depth = 0; process != NULL && depth < DEPTH_MAX; depth++) {
    if (process->parent == root || (with_group && process->group == root)) return true;
    struct rd_process parent = {.pid = process->parent};
    process = bsearch(&parent, all->items, all->count, sizeof parent, by_pid);
  }
  return false;
}
