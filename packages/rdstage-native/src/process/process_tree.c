// SPDX-License-Identifier: Apache-2.0
#include "process/process_tree.h"

#include "base/io.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#define ROUNDS_MAX 10
#define GRACE_MS 3000
#define SWEEP_EVERY_MS 20

static bool list_tree(const struct rd_process_tree_sweep *sweep, struct rd_process_list *list, struct rd_error *error);
static bool is_excluded(const struct rd_process_tree_sweep *sweep, pid_t pid);
static bool is_among(pid_t pid, const pid_t *pids, size_t count);
static size_t stop_running(const struct rd_process_tree_sweep *sweep, const struct rd_process_list *list);
static void kill_one(struct rd_process_tree_sweep *sweep, const struct rd_process *process);
static void ask_once(struct rd_process_tree_sweep *sweep, const struct rd_process *process);

ssize_t rd_process_tree_sweep(struct rd_process_tree_sweep *sweep, struct rd_error *error) {
  if (!sweep->began_ms) sweep->began_ms = rd_now_ms();
  if (!rd_process_tree_freeze(sweep, error)) return -1;
  struct rd_process_list list;
  if (!list_tree(sweep, &list, error)) return -1;
  sweep->refused = 0;
  for (size_t i = 0; i < list.count; i++) kill_one(sweep, &list.items[i]);
  ssize_t count = (ssize_t)list.count;
  rd_process_list_clear(&list);
  return count;
}

bool rd_process_tree_sweep_is_over(const struct rd_process_tree_sweep *sweep, ssize_t left) {
  return left == 0 || (left > 0 && (size_t)left == sweep->refused);
}

bool rd_process_tree_freeze(const struct rd_process_tree_sweep *sweep, struct rd_error *error) {
  for (int round = 0; round < ROUNDS_MAX; round++) {
    struct rd_process_list list;
    if (!list_tree(sweep, &list, error)) return false;
    size_t running = stop_running(sweep, &list);
    rd_process_list_clear(&list);
    if (!running) break;
  }
  return true;
}

bool rd_process_tree_thaw(pid_t root, struct rd_error *error) {
  struct rd_process_list list;
  if (!rd_process_list_below(root, &list, error)) return false;
  for (size_t i = 0; i < list.count; i++) rd_process_signal(&list.items[i], SIGCONT);
  rd_process_list_clear(&list);
  return true;
}

bool rd_process_tree_end(pid_t root, int64_t limit_ms) {
  struct rd_process_tree_sweep sweep = {.root = root};
  struct rd_error error;
  int64_t until_ms = rd_now_ms() + limit_ms;
  while (rd_now_ms() < until_ms) {
    ssize_t left = rd_process_tree_sweep(&sweep, &error);
    if (rd_process_tree_sweep_is_over(&sweep, left)) return left == 0;
    poll(NULL, 0, SWEEP_EVERY_MS);
  }
  return false;
}

static bool list_tree(const struct rd_process_tree_sweep *sweep, struct rd_process_list *list, struct rd_error *error) {
  bool listed = sweep->is_group ? rd_process_list_group(sweep->root, list, error)
                                : rd_process_list_below(sweep->root, list, error);
  if (!listed) return false;
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++)
    if (!is_excluded(sweep, list->items[i].pid)) list->items[kept++] = list->items[i];
  list->count = kept;
  return true;
}

static bool is_excluded(const struct rd_process_tree_sweep *sweep, pid_t pid) {
  return is_among(pid, sweep->excluded, sweep->excluded_count);
}

static bool is_among(pid_t pid, const pid_t *pids, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (pids[i] == pid) return true;
  return false;
}

// Returns how many processes were running and got the signal. A process that may not be signalled, or that belongs to
// another user, is not stopped.
static size_t stop_running(const struct rd_process_tree_sweep *sweep, const struct rd_process_list *list) {
  size_t stopped = 0;
  for (size_t i = 0; i < list->count; i++) {
    const struct rd_process *process = &list->items[i];
    if (process->state == 'T' || process->state == 't' || rd_process_is_foreign(process->pid)) continue;
    if (is_among(process->pid, sweep->asked, sweep->asked_count)) continue; // it is cleaning up
    if (rd_process_signal(process, SIGSTOP) == 0) stopped++;
  }
  return stopped;
}

static void kill_one(struct rd_process_tree_sweep *sweep, const struct rd_process *process) {
  bool is_asked = rd_process_is_foreign(process->pid) || is_among(process->pid, sweep->cleaners, sweep->cleaner_count);
  if (is_asked && rd_now_ms() - sweep->began_ms < GRACE_MS)
    ask_once(sweep, process);
  else if (rd_process_signal(process, SIGKILL) == EPERM)
    sweep->refused++;
}

static void ask_once(struct rd_process_tree_sweep *sweep, const struct rd_process *process) {
  if (is_among(process->pid, sweep->asked, sweep->asked_count)) return;
  if (sweep->asked_count == sizeof sweep->asked / sizeof *sweep->asked) return;
  sweep->asked[sweep->asked_count++] = process->pid;
  rd_process_signal(process, SIGTERM);
  if (is_among(process->pid, sweep->cleaners, sweep->cleaner_count)) rd_process_signal(process, SIGCONT);
}
