// SPDX-License-Identifier: Apache-2.0
#include "target/batch.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/worker.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>

#define BATCH_FILES 10000u
#define BATCH_BYTES (UINT64_C(512) << 20)
#define BATCH_MS 2000
#define SLICE_FILES 256u // files that one job verifies or renames

// The files that one job works on.
struct slice {
  struct rd_job job;
  struct rd_batches *batches;
  struct rd_target_file *first;
  size_t count;
  bool is_to_verify;
};

struct list {
  struct rd_target_file *first, **last;
  size_t count, open_count;
  uint64_t bytes;
  int64_t begin_ms;
};

struct device {
  dev_t device;
  int fd;
  char *path; // for messages
};

struct rd_batches {
  struct rd_write *write;
  struct rd_stream_writer *results;
  struct rd_worker thread;
  size_t most_open; // limit of open files, and of open directories
  pthread_mutex_t lock;
  pthread_cond_t changed, published;
  struct list current;
  bool is_busy, is_flushing, is_ending; // publishing; everything must be published; the thread must end
  size_t slices;                        // number of running slices
  struct rd_target_file *renamed;       // the previous batch: its names are permanent after the next call
  struct device *devices;
  size_t device_count;
};

static void *publish_batches(void *context);
static bool wait_for_batch(struct rd_batches *batches, struct list *batch);
static bool is_due(const struct rd_batches *batches, int64_t now_ms);
static void publish(struct rd_batches *batches, struct list *batch);
static bool make_permanent(struct rd_batches *batches, const struct list *batch);
static bool sync_device(struct rd_batches *batches, const struct device *device);
static void run_slices(struct rd_batches *batches, struct rd_target_file *first, bool is_to_verify);
static void run_slice(struct rd_job *job);
static void report(struct rd_batches *batches);
static void report_one(struct rd_batches *batches, const struct rd_target_file *file);
static bool has_results(const struct rd_batches *batches);
static void destroy_all(struct rd_target_file *first);
static void wait_on(pthread_cond_t *condition, pthread_mutex_t *lock, int timeout_ms, bool *is_late);
static void create_condition(pthread_cond_t *condition);

struct rd_batches *rd_batches_create(struct rd_write *write, struct rd_stream_writer *results, struct rd_error *error) {
  struct rd_batches *batches = rd_memory_new(1, sizeof *batches);
  batches->write = write;
  batches->results = results;
  write->batches = batches;
  write->add = rd_batches_add;
  batches->current.last = &batches->current.first;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) limit.rlim_cur = 1024;
  batches->most_open = limit.rlim_cur / 8 < 4096 ? (size_t)limit.rlim_cur / 8 : 4096;
  pthread_mutex_init(&batches->lock, NULL);
  create_condition(&batches->changed);
  create_condition(&batches->published);
  if (rd_worker_start(&batches->thread, publish_batches, batches, error)) return batches;
  write->batches = NULL;
  rd_batches_destroy(batches);
  return NULL;
}

void rd_batches_stop(struct rd_batches *batches) {
  if (batches == NULL) return;
  pthread_mutex_lock(&batches->lock);
  batches->is_ending = true;
  pthread_cond_broadcast(&batches->changed);
  pthread_mutex_unlock(&batches->lock);
  if (batches->thread.running) pthread_join(batches->thread.thread, NULL);
  batches->thread.running = false;
}

void rd_batches_destroy(struct rd_batches *batches) {
  if (batches == NULL) return;
  rd_batches_stop(batches);
  destroy_all(batches->current.first);
  destroy_all(batches->renamed);
  for (size_t i = 0; i < batches->device_count; i++) {
    close(batches->devices[i].fd);
    free(batches->devices[i].path);
  }
  free(batches->devices);
  pthread_cond_destroy(&batches->changed);
  pthread_cond_destroy(&batches->published);
  pthread_mutex_destroy(&batches->lock);
  free(batches);
}

void rd_batches_add(struct rd_batches *batches, struct rd_target_file *file) {
  pthread_mutex_lock(&batches->lock);
  struct list *current = &batches->current;
  file->next = NULL;
  *current->last = file;
  current->last = &file->next;
  if (current->count++ == 0) current->begin_ms = rd_now_ms();
  current->bytes += file->size + rd_target_file_bytes(file);
  current->open_count += file->fd >= 0;
  if (current->count == 1 || is_due(batches, current->begin_ms)) pthread_cond_signal(&batches->changed);
  pthread_mutex_unlock(&batches->lock);
}

void rd_batches_add_file_system(struct rd_batches *batches, const struct rd_directory *directory) {
  for (size_t i = 0; i < batches->device_count; i++)
    if (batches->devices[i].device == directory->device) return;
  int fd = fcntl(directory->fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return; // too many open files: the next directory on it cannot be opened either
  pthread_mutex_lock(&batches->lock);
  batches->devices = rd_memory_resize(batches->devices, batches->device_count + 1, sizeof *batches->devices);
  batches->devices[batches->device_count++] =
      (struct device){directory->device, fd, rd_directory_path(directory, NULL)};
  pthread_mutex_unlock(&batches->lock);
}

bool rd_batches_wait(struct rd_batches *batches, bool all, int timeout_ms) {
  bool is_late = false, is_waiting = true;
  pthread_mutex_lock(&batches->lock);
  while (!is_late && !atomic_load(&batches->write->is_stopped)) {
    const struct list *current = &batches->current;
    batches->is_flushing = all;
    is_waiting = all ? batches->is_busy || current->count > 0
                     : batches->is_busy && (current->count >= 2 * BATCH_FILES || current->bytes >= 2 * BATCH_BYTES ||
                                            current->open_count >= batches->most_open ||
                                            rd_directories_open() >= 2 * batches->most_open);
    if (!is_waiting) break;
    pthread_cond_signal(&batches->changed);
    wait_on(&batches->published, &batches->lock, timeout_ms, &is_late);
  }
  pthread_mutex_unlock(&batches->lock);
  return !is_late || !is_waiting;
}

bool rd_batches_finish(struct rd_batches *batches) {
  if (atomic_load(&batches->write->is_stopped)) return false;
  for (size_t i = 0; i < batches->device_count && batches->write->settings->sync; i++)
    if (!sync_device(batches, &batches->devices[i])) return false;
  report(batches);
  return !atomic_load(&batches->write->is_stopped);
}

static void *publish_batches(void *context) {
  struct rd_batches *batches = context;
  struct list batch;
  while (wait_for_batch(batches, &batch)) {
    publish(batches, &batch);
    pthread_mutex_lock(&batches->lock);
    batches->is_busy = false;
    pthread_cond_broadcast(&batches->published);
    pthread_mutex_unlock(&batches->lock);
  }
  return NULL;
}

// Returns false at the end.
static bool wait_for_batch(struct rd_batches *batches, struct list *batch) {
  pthread_mutex_lock(&batches->lock);
  struct list *current = &batches->current;
  for (;;) {
    bool has_files = current->count > 0;
    if (batches->is_ending || (has_files && (batches->is_flushing || is_due(batches, rd_now_ms())))) break;
    int64_t left_ms = has_files ? current->begin_ms + BATCH_MS - rd_now_ms() : BATCH_MS;
    bool is_late = false;
    wait_on(&batches->changed, &batches->lock, left_ms > 0 ? (int)left_ms : 1, &is_late);
  }
  bool is_ending = batches->is_ending;
  if (!is_ending) {
    *batch = *current;
    *current = (struct list){.last = &current->first};
    batches->is_busy = true;
  }
  pthread_mutex_unlock(&batches->lock);
  return !is_ending;
}

static bool is_due(const struct rd_batches *batches, int64_t now_ms) {
  const struct list *current = &batches->current;
  return current->count >= BATCH_FILES || current->bytes >= BATCH_BYTES || now_ms - current->begin_ms >= BATCH_MS ||
         current->open_count >= batches->most_open / 2 || rd_directories_open() >= batches->most_open;
}

static void publish(struct rd_batches *batches, struct list *batch) {
  struct rd_write *write = batches->write;
  bool is_permanent = !atomic_load(&write->is_stopped) && make_permanent(batches, batch);
  if (is_permanent && write->settings->verify) run_slices(batches, batch->first, true);
  if (is_permanent && !atomic_load(&write->is_stopped)) run_slices(batches, batch->first, false);
  bool is_reported = has_results(batches) || write->settings->paths;
  if (is_reported && !atomic_load(&write->is_stopped))
    batches->renamed = batch->first;
  else
    destroy_all(batch->first);
}

// Also makes the names of the previous batch permanent.
static bool make_permanent(struct rd_batches *batches, const struct list *batch) {
  if (!batches->write->settings->sync) {
    report(batches);
    return true;
  }
  struct rd_target_file *only = batch->count == 1 && batches->renamed == NULL ? batch->first : NULL;
  if (only != NULL && only->fd >= 0) return rd_target_file_sync(only);
  pthread_mutex_lock(&batches->lock);
  size_t count = batches->device_count;
  struct device *devices = rd_memory_new(count + 1, sizeof *devices);
  if (count > 0) memcpy(devices, batches->devices, count * sizeof *devices);
  pthread_mutex_unlock(&batches->lock);
  bool is_permanent = true;
  for (size_t i = 0; i < count && is_permanent; i++) is_permanent = sync_device(batches, &devices[i]);
  free(devices);
  if (is_permanent) report(batches);
  return is_permanent;
}

static bool sync_device(struct rd_batches *batches, const struct device *device) {
  while (syncfs(device->fd) < 0) {
    if (errno == EINTR) continue;
    struct rd_error error;
    atomic_store(&batches->write->is_disk_lost, true);
    rd_error_set_errno(&error, RD_CODE_SINK_UNWRITABLE, "cannot write the file system of %.400s to its disk",
                       device->path);
    rd_write_stop(batches->write, &error);
    return false;
  }
  return true;
}

// Uses all threads including this one, because the others may be busy for long.
static void run_slices(struct rd_batches *batches, struct rd_target_file *first, bool is_to_verify) {
  while (first != NULL) {
    struct slice *slice = rd_memory_new(1, sizeof *slice);
    *slice = (struct slice){{.run = run_slice}, batches, first, 0, is_to_verify};
    for (; first != NULL && slice->count < SLICE_FILES; first = first->next) slice->count++;
    pthread_mutex_lock(&batches->lock);
    batches->slices++;
    pthread_mutex_unlock(&batches->lock);
    if (first == NULL)
      run_slice(&slice->job);
    else
      rd_jobs_put_first(batches->write->jobs, &slice->job);
  }
  pthread_mutex_lock(&batches->lock);
  while (batches->slices > 0) pthread_cond_wait(&batches->published, &batches->lock);
  pthread_mutex_unlock(&batches->lock);
}

static void run_slice(struct rd_job *job) {
  struct slice *slice = (struct slice *)job;
  struct rd_batches *batches = slice->batches;
  struct rd_target_file *file = slice->first;
  for (size_t i = 0; i < slice->count; i++, file = file->next) {
    if (atomic_load(&file->is_failed) || atomic_load(&batches->write->is_stopped)) continue;
    if (!slice->is_to_verify)
      (void)rd_target_file_publish(file);
    else if (file->kind != RD_KIND_NOTE)
      (void)rd_target_file_verify(file);
  }
  free(slice);
  pthread_mutex_lock(&batches->lock);
  if (--batches->slices == 0) pthread_cond_broadcast(&batches->published);
  pthread_mutex_unlock(&batches->lock);
}

// Reports the previous batch, whose names are permanent by now.
static void report(struct rd_batches *batches) {
  struct rd_error error;
  for (const struct rd_target_file *file = batches->renamed; file != NULL; file = file->next)
    if (!atomic_load(&file->is_failed)) report_one(batches, file);
  destroy_all(batches->renamed);
  batches->renamed = NULL;
  if (has_results(batches) && !rd_stream_flush(batches->results, &error)) rd_write_stop(batches->write, &error);
}

static void report_one(struct rd_batches *batches, const struct rd_target_file *file) {
  struct rd_error error;
  if (batches->write->settings->paths) {
    RD_AUTO_FREE char *path = rd_directory_path(file->directory, file->name);
    rd_events_path(file->action, path, file->size);
  }
  if (!has_results(batches) || S_ISDIR(file->read.mode) || file->stays_at_source) return;
  uint32_t source;
  RD_AUTO_FREE char *below = rd_directory_below_source(file->directory, file->name, &source);
  bool is_source = file->directory->parent == NULL;
  struct rd_record done = {.type = RD_RECORD_DONE};
  done.done.source = is_source ? file->source : source;
  done.done.path = rd_bytes_of(is_source ? "" : below);
  done.done.metadata = file->read;
  done.done.size = file->size;
  if (!rd_stream_put(batches->results, &done, &error)) rd_write_stop(batches->write, &error);
}

// Of a copy that ends too early nothing reads them.
static bool has_results(const struct rd_batches *batches) {
  return batches->results != NULL && atomic_load(&batches->write->late_ms) == 0;
}

static void destroy_all(struct rd_target_file *first) {
  while (first != NULL) {
    struct rd_target_file *next = first->next;
    rd_target_file_destroy(first);
    first = next;
  }
}

static void create_condition(pthread_cond_t *condition) {
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &clock);
  pthread_condattr_destroy(&clock);
}

static void wait_on(pthread_cond_t *condition, pthread_mutex_t *lock, int timeout_ms, bool *is_late) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += timeout_ms % 1000 * 1000000L;
  if (until.tv_nsec >= RD_NS_A_SECOND) until.tv_sec++, until.tv_nsec -= RD_NS_A_SECOND;
  *is_late = pthread_cond_timedwait(condition, lock, &until) != 0;
}
