// SPDX-License-Identifier: Apache-2.0
#include "sink/writer.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/outcome.h"
#include "base/worker.h"

#include <sys/eventfd.h>

struct rd_writer {
  struct rd_stream_check *check; // used by the side that writes: owner or thread; NULL: not wanted
  struct rd_sink *sink;          // NULL: none so far; set once
  bool has_thread;               // the thread writes; otherwise the owner does
  struct rd_worker worker;
  atomic_bool stop;
  int event_fd;
  bool is_full;       // the owner waits until the sink can take more
  bool discards;      // all data counts as written
  size_t begun_bytes; // bytes of frame `written` that the owner has written

  pthread_mutex_t lock; // protects everything below
  pthread_cond_t changed;
  struct rd_rx_frame *queue; // a ring of `places`: [returned, written) can be taken back, [written, put) is unwritten
  unsigned places;
  uint64_t put, written, returned;
  bool busy; // frame `written` is being written
  bool finishing;
  struct rd_end end;
  enum rd_writer_state state;
  struct rd_error error;
};

static void write_prompt_sink(struct rd_writer *writer);
static void discard(struct rd_writer *writer);
static enum rd_outcome write_some(struct rd_writer *writer, struct rd_error *error);
static void *write_all(void *context);
static bool next_frame(struct rd_writer *writer, struct rd_rx_frame *rx_frame);
static bool has_work(const struct rd_writer *writer);
static bool write_frame(struct rd_writer *writer, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool finish(struct rd_writer *writer, struct rd_error *error);
static void set_state(struct rd_writer *writer, enum rd_writer_state state, const struct rd_error *error);

struct rd_writer *rd_writer_create(unsigned slots, struct rd_stream_check *check, struct rd_error *error) {
  unsigned places = slots + 1;
  struct rd_rx_frame *queue = calloc(places, sizeof *queue);
  if (queue == NULL) {
    rd_stream_check_destroy(check);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a queue of %u frames (set a smaller --buffer)", places);
    return NULL;
  }
  struct rd_writer *writer = rd_memory_new(1, sizeof *writer);
  writer->queue = queue;
  writer->places = places;
  writer->check = check;
  pthread_mutex_init(&writer->lock, NULL);
  pthread_cond_init(&writer->changed, NULL);
  writer->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (writer->event_fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create an event descriptor");
  if (writer->event_fd >= 0) return writer;
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
  rd_stream_check_destroy(writer->check);
  free(writer->queue);
  free(writer);
}

bool rd_writer_begin(struct rd_writer *writer, struct rd_sink *sink, struct rd_error *error) {
  writer->sink = sink;
  writer->has_thread = !rd_sink_never_blocks(sink); // must be set before the thread reads it
  if (writer->has_thread) return rd_worker_start(&writer->worker, write_all, writer, error);
  write_prompt_sink(writer);
  return true;
}

bool rd_writer_put(struct rd_writer *writer, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  pthread_mutex_lock(&writer->lock);
  bool fits = writer->put - writer->returned < writer->places;
  if (fits) {
    writer->queue[writer->put % writer->places] = *rx_frame;
    writer->put++;
    pthread_cond_signal(&writer->changed);
  }
  pthread_mutex_unlock(&writer->lock);
  write_prompt_sink(writer);
  if (!fits) rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender exceeded its credit");
  return fits;
}

void rd_writer_finish(struct rd_writer *writer, const struct rd_end *end) {
  pthread_mutex_lock(&writer->lock);
  writer->finishing = true;
  writer->end = *end;
  pthread_cond_signal(&writer->changed);
  pthread_mutex_unlock(&writer->lock);
  write_prompt_sink(writer);
}

void rd_writer_discard(struct rd_writer *writer) {
  writer->discards = true;
  write_prompt_sink(writer);
}

size_t rd_writer_discard_pending(struct rd_writer *writer, bool *forgot_end) {
  pthread_mutex_lock(&writer->lock);
  size_t busy_bytes = writer->busy ? writer->queue[writer->written % writer->places].bytes : 0;
  uint64_t kept = writer->written + (writer->busy ? 1 : 0);
  // The writer reaches the end only after the frames before it.
  *forgot_end = writer->put > kept && writer->finishing;
  if (*forgot_end) writer->finishing = false;
  writer->put = kept;
  pthread_mutex_unlock(&writer->lock);
  return busy_bytes;
}

bool rd_writer_take_back(struct rd_writer *writer, struct rd_rx_frame *rx_frame) {
  pthread_mutex_lock(&writer->lock);
  bool any = writer->returned < writer->written;
  if (any) {
    *rx_frame = writer->queue[writer->returned % writer->places];
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

unsigned rd_writer_held(struct rd_writer *writer) {
  pthread_mutex_lock(&writer->lock);
  unsigned held = (unsigned)(writer->put - writer->returned);
  pthread_mutex_unlock(&writer->lock);
  return held;
}

enum rd_writer_state rd_writer_state(struct rd_writer *writer, struct rd_error *error) {
  pthread_mutex_lock(&writer->lock);
  enum rd_writer_state state = writer->state;
  if (state == RD_WRITER_FAILED) *error = writer->error;
  pthread_mutex_unlock(&writer->lock);
  return state;
}

struct pollfd rd_writer_poll(const struct rd_writer *writer) {
  if (writer->has_thread) return (struct pollfd){.fd = writer->event_fd, .events = POLLIN};
  return (struct pollfd){.fd = writer->is_full ? rd_sink_watch_fd(writer->sink) : -1, .events = POLLOUT};
}

void rd_writer_woken(struct rd_writer *writer) {
  eventfd_t ignored;
  if (writer->has_thread)
    eventfd_read(writer->event_fd, &ignored);
  else
    write_prompt_sink(writer);
}

// If there is no thread: writes as much as the sink takes without blocking.
static void write_prompt_sink(struct rd_writer *writer) {
  struct rd_error error;
  if (writer->discards) {
    discard(writer);
    return;
  }
  enum rd_outcome wrote = RD_OUTCOME_DONE;
  if (writer->has_thread || writer->sink == NULL || writer->state != RD_WRITER_WRITING) return;
  while (wrote == RD_OUTCOME_DONE && writer->written < writer->put) wrote = write_some(writer, &error);
  writer->is_full = wrote == RD_OUTCOME_AGAIN;
  if (wrote == RD_OUTCOME_FAILED)
    set_state(writer, RD_WRITER_FAILED, &error);
  else if (wrote == RD_OUTCOME_DONE && writer->finishing)
    set_state(writer, finish(writer, &error) ? RD_WRITER_COMMITTED : RD_WRITER_FAILED, &error);
}

static void discard(struct rd_writer *writer) {
  pthread_mutex_lock(&writer->lock);
  writer->written = writer->put;
  writer->busy = false;
  writer->state = writer->finishing ? RD_WRITER_COMMITTED : RD_WRITER_WRITING;
  pthread_mutex_unlock(&writer->lock);
}

// Writes a part of frame `written`, or all of it.
static enum rd_outcome write_some(struct rd_writer *writer, struct rd_error *error) {
  const struct rd_rx_frame *rx_frame = &writer->queue[writer->written % writer->places];
  if (!writer->busy && writer->check != NULL) rd_stream_check_update(writer->check, rx_frame->payload, rx_frame->bytes);
  writer->busy = true;
  ssize_t count = rd_sink_write_now(writer->sink, rx_frame->payload + writer->begun_bytes,
                                    rx_frame->bytes - writer->begun_bytes, error);
  if (count <= 0) return count == 0 ? RD_OUTCOME_AGAIN : RD_OUTCOME_FAILED;
  writer->begun_bytes += (size_t)count;
  if (writer->begun_bytes < rx_frame->bytes) return RD_OUTCOME_DONE;
  writer->begun_bytes = 0;
  writer->busy = false;
  writer->written++;
  return RD_OUTCOME_DONE;
}

static void *write_all(void *context) {
  struct rd_writer *writer = context;
  struct rd_rx_frame rx_frame;
  struct rd_error error;
  bool good = true;
  while (good && next_frame(writer, &rx_frame)) good = write_frame(writer, &rx_frame, &error);
  if (good) good = finish(writer, &error);
  set_state(writer, good ? RD_WRITER_COMMITTED : RD_WRITER_FAILED, &error);
  eventfd_write(writer->event_fd, 1);
  return NULL;
}

// Waits for the next frame. Returns false if there will be none.
static bool next_frame(struct rd_writer *writer, struct rd_rx_frame *rx_frame) {
  pthread_mutex_lock(&writer->lock);
  while (!has_work(writer) && !atomic_load(&writer->stop)) pthread_cond_wait(&writer->changed, &writer->lock);
  bool any = writer->written < writer->put && !atomic_load(&writer->stop);
  if (any) *rx_frame = writer->queue[writer->written % writer->places];
  writer->busy = any;
  pthread_mutex_unlock(&writer->lock);
  return any;
}

static bool has_work(const struct rd_writer *writer) {
  return writer->written < writer->put || writer->finishing;
}

static bool write_frame(struct rd_writer *writer, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  if (writer->check != NULL) rd_stream_check_update(writer->check, rx_frame->payload, rx_frame->bytes);
  if (!rd_sink_write(writer->sink, rx_frame->payload, rx_frame->bytes, &writer->stop, error)) return false;
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
  if (writer->check != NULL && !rd_stream_check_verify(writer->check, &writer->end, error)) return false;
  // Even for an empty stream a fifo must be opened.
  return rd_sink_write(writer->sink, NULL, 0, &writer->stop, error) && rd_sink_commit(writer->sink, error);
}

static void set_state(struct rd_writer *writer, enum rd_writer_state state, const struct rd_error *error) {
  pthread_mutex_lock(&writer->lock);
  writer->state = state;
  if (state == RD_WRITER_FAILED) writer->error = *error;
  pthread_mutex_unlock(&writer->lock);
}
