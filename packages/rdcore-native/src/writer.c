// SPDX-License-Identifier: Apache-2.0
#include "writer.h"

#include "cleanup.h"
#include "digest.h"
#include "worker.h"

#include <sys/eventfd.h>

struct rd_writer {
  struct rd_digest *digest; // of whoever writes; NULL: not wanted
  struct rd_worker worker;
  atomic_bool stop;
  int event_fd;

  pthread_mutex_t lock; // of everything below
  pthread_cond_t changed;
  struct rd_sink *sink;     // NULL: not known yet; set once
  struct rd_arrival *queue; // a ring of `places`: [returned, written) go back, [written, put) are to be written
  unsigned places;
  uint64_t put, written, returned;
  bool busy; // with frame `written`
  bool finishing;
  struct rd_end end;
  enum rd_writer_state state;
  struct rd_error error;
};

static bool write_here(struct rd_writer *writer, const struct rd_arrival *arrival);
static void *write_all(void *context);
static bool next_frame(struct rd_writer *writer, struct rd_arrival *arrival);
static bool has_work(const struct rd_writer *writer);
static bool write_frame(struct rd_writer *writer, const struct rd_arrival *arrival, struct rd_error *error);
static bool finish(struct rd_writer *writer, struct rd_error *error);
static void set_state(struct rd_writer *writer, enum rd_writer_state state, const struct rd_error *error);

struct rd_writer *rd_writer_create(unsigned slots, bool takes_digest, struct rd_error *error) {
  struct rd_writer *writer = calloc(1, sizeof *writer);
  unsigned places = slots + 1;
  struct rd_arrival *queue = calloc(places, sizeof *queue);
  if (writer == NULL || queue == NULL) {
    free(writer);
    free(queue);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a writer");
    return NULL;
  }
  writer->queue = queue;
  writer->places = places;
  pthread_mutex_init(&writer->lock, NULL);
  pthread_cond_init(&writer->changed, NULL);
  writer->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (writer->event_fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make an event descriptor");
  if (takes_digest && writer->event_fd >= 0) writer->digest = rd_digest_create(error);
  bool made = writer->event_fd >= 0 && (!takes_digest || writer->digest != NULL);
  if (made && rd_worker_start(&writer->worker, write_all, writer, error)) return writer;
  rd_writer_destroy(writer);
  return NULL;
}

bool rd_writer_stop(struct rd_writer *writer) {
  pthread_mutex_lock(&writer->lock);
  atomic_store(&writer->stop, true);
  pthread_cond_signal(&writer->changed);
  pthread_mutex_unlock(&writer->lock);
  return rd_worker_stop(&writer->worker);
}

void rd_writer_destroy(struct rd_writer *writer) {
  if (writer == NULL) return;
  rd_cleanup_fd(&writer->event_fd);
  pthread_cond_destroy(&writer->changed);
  pthread_mutex_destroy(&writer->lock);
  rd_digest_destroy(writer->digest);
  free(writer->queue);
  free(writer);
}

void rd_writer_begin(struct rd_writer *writer, struct rd_sink *sink) {
  pthread_mutex_lock(&writer->lock);
  writer->sink = sink;
  pthread_cond_signal(&writer->changed);
  pthread_mutex_unlock(&writer->lock);
}

bool rd_writer_put(struct rd_writer *writer, const struct rd_arrival *arrival, struct rd_error *error) {
  pthread_mutex_lock(&writer->lock);
  bool fits = writer->put - writer->returned < writer->places;
  if (fits) {
    writer->queue[writer->put % writer->places] = *arrival;
    writer->put++;
    if (!write_here(writer, arrival)) pthread_cond_signal(&writer->changed);
  }
  pthread_mutex_unlock(&writer->lock);
  if (!fits) rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender sent more than it was allowed to");
  return fits;
}

void rd_writer_finish(struct rd_writer *writer, const struct rd_end *end) {
  pthread_mutex_lock(&writer->lock);
  writer->finishing = true;
  writer->end = *end;
  pthread_cond_signal(&writer->changed);
  pthread_mutex_unlock(&writer->lock);
}

size_t rd_writer_forget(struct rd_writer *writer, bool *forgot_end) {
  pthread_mutex_lock(&writer->lock);
  size_t busy_bytes = writer->busy ? writer->queue[writer->written % writer->places].bytes : 0;
  uint64_t kept = writer->written + (writer->busy ? 1 : 0);
  // With frames before it the end was not looked at yet.
  *forgot_end = writer->put > kept && writer->finishing;
  if (*forgot_end) writer->finishing = false;
  writer->put = kept;
  pthread_mutex_unlock(&writer->lock);
  return busy_bytes;
}

bool rd_writer_take_back(struct rd_writer *writer, struct rd_arrival *arrival) {
  pthread_mutex_lock(&writer->lock);
  bool any = writer->returned < writer->written;
  if (any) {
    *arrival = writer->queue[writer->returned % writer->places];
    writer->returned++;
  }
  pthread_mutex_unlock(&writer->lock);
  return any;
}

unsigned rd_writer_pending(struct rd_writer *writer) {
  pthread_mutex_lock(&writer->lock);
  unsigned pending = (unsigned)(writer->put - writer->written);
  pthread_mutex_unlock(&writer->lock);
  return pending;
}

enum rd_writer_state rd_writer_state(struct rd_writer *writer, struct rd_error *error) {
  pthread_mutex_lock(&writer->lock);
  enum rd_writer_state state = writer->state;
  if (state == RD_WRITER_FAILED) *error = writer->error;
  pthread_mutex_unlock(&writer->lock);
  return state;
}

int rd_writer_poll_fd(const struct rd_writer *writer) {
  return writer->event_fd;
}

void rd_writer_woken(struct rd_writer *writer) {
  eventfd_t ignored;
  eventfd_read(writer->event_fd, &ignored);
}

// With the lock. Few bytes, which nobody else writes now: waking the thread would take longer. Whatever is wrong with
// the sink, the thread will find out.
static bool write_here(struct rd_writer *writer, const struct rd_arrival *arrival) {
  bool is_alone = writer->sink != NULL && writer->state == RD_WRITER_WRITING && writer->put == writer->written + 1;
  if (!is_alone || !rd_sink_write_at_once(writer->sink, arrival->payload, arrival->bytes)) return false;
  if (writer->digest != NULL) rd_digest_update(writer->digest, arrival->payload, arrival->bytes);
  writer->written++;
  return true;
}

static void *write_all(void *context) {
  struct rd_writer *writer = context;
  struct rd_arrival arrival;
  struct rd_error error;
  bool good = true;
  while (good && next_frame(writer, &arrival)) good = write_frame(writer, &arrival, &error);
  if (good) good = finish(writer, &error);
  set_state(writer, good ? RD_WRITER_COMMITTED : RD_WRITER_FAILED, &error);
  return NULL;
}

// Waits for it. False: there will be none any more.
static bool next_frame(struct rd_writer *writer, struct rd_arrival *arrival) {
  pthread_mutex_lock(&writer->lock);
  while (!has_work(writer) && !atomic_load(&writer->stop)) pthread_cond_wait(&writer->changed, &writer->lock);
  bool any = writer->written < writer->put && !atomic_load(&writer->stop);
  if (any) *arrival = writer->queue[writer->written % writer->places];
  writer->busy = any;
  pthread_mutex_unlock(&writer->lock);
  return any;
}

static bool has_work(const struct rd_writer *writer) {
  return writer->sink != NULL && (writer->written < writer->put || writer->finishing);
}

static bool write_frame(struct rd_writer *writer, const struct rd_arrival *arrival, struct rd_error *error) {
  if (writer->digest != NULL) rd_digest_update(writer->digest, arrival->payload, arrival->bytes);
  if (!rd_sink_write(writer->sink, arrival->payload, arrival->bytes, &writer->stop, error)) return false;
  pthread_mutex_lock(&writer->lock);
  writer->written++;
  writer->busy = false;
  pthread_mutex_unlock(&writer->lock);
  eventfd_write(writer->event_fd, 1);
  return true;
}

static bool finish(struct rd_writer *writer, struct rd_error *error) {
  if (atomic_load(&writer->stop)) {
    rd_error_set(error, RD_CODE_ABORTED, "writing was stopped");
    return false;
  }
  if (writer->digest != NULL) {
    unsigned char digest[RD_DIGEST_BYTES];
    rd_digest_value(writer->digest, digest);
    if (memcmp(digest, writer->end.digest, sizeof digest) != 0) {
      rd_error_set(error, RD_CODE_DATA_DAMAGED, "the digest of what arrived is not that of what was sent");
      return false;
    }
  }
  // An empty stream opens a fifo, too.
  return rd_sink_write(writer->sink, NULL, 0, &writer->stop, error) && rd_sink_commit(writer->sink, error);
}

static void set_state(struct rd_writer *writer, enum rd_writer_state state, const struct rd_error *error) {
  pthread_mutex_lock(&writer->lock);
  writer->state = state;
  if (state == RD_WRITER_FAILED) writer->error = *error;
  pthread_mutex_unlock(&writer->lock);
  eventfd_write(writer->event_fd, 1);
}
