// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include "sandbox/sandbox.h"

static bool take_source(struct rd_input *input, struct rd_source *source, const char *path, struct rd_control *control);
static bool take_relay(struct rd_input *input, const struct rd_command *command, struct rd_control *control,
                       struct rd_error *error);
static bool take_ring(struct rd_input *input, const struct rd_command *command, struct rd_error *error);
static void drop_shared(struct rd_input *input);
static bool begin_source(struct rd_input *input, size_t ring_bytes, const struct rd_signing *check,
                         struct rd_error *error);
static bool make_ring(struct rd_input *input, size_t ring_bytes, struct rd_error *error);
static bool has_news(const struct rd_input *input, uint64_t filled);

bool rd_input_clear(struct rd_input *input) {
  // A thread that hangs in a system call still uses the ring and the source.
  if (!rd_reader_destroy(input->reader)) return false;
  if (input->shared == NULL) rd_ring_destroy(input->ring);
  drop_shared(input);
  rd_source_destroy(input->source);
  rd_stream_check_destroy(input->check);
  return true;
}

bool rd_input_handle_command(struct rd_input *input, const struct rd_command *command, struct rd_control *control,
                             struct rd_error *error) {
  switch (command->type) {
  case RD_COMMAND_FILE:
    return take_source(input, rd_source_open(command->path, error), command->path, control);
  case RD_COMMAND_READY:
    return take_source(input, rd_source_from_fd(command->fd), NULL, control);
  case RD_COMMAND_RING:
    return take_ring(input, command, error);
  case RD_COMMAND_RELAY:
    return take_relay(input, command, control, error);
  case RD_COMMAND_COMMIT:
    input->committed = true;
    input->producer_status = command->status;
    return true;
  default:
    return true;
  }
}

bool rd_input_begin(struct rd_input *input, size_t ring_bytes, const struct rd_signing *check, struct rd_error *error) {
  if (input->ring != NULL) return true;
  if (input->source != NULL) return begin_source(input, ring_bytes, check, error);
  if (input->relay == NULL) return true;
  input->ring = rd_relay_ring(input->relay, error);
  return input->ring != NULL || error->code == RD_CODE_OK;
}

void rd_input_sending(struct rd_input *input, uint64_t offset, const unsigned char *bytes, size_t count) {
  if (input->check == NULL || input->reader != NULL || offset + count <= input->checked) return;
  size_t known = (size_t)(input->checked - offset);
  rd_stream_check_update(input->check, bytes + known, count - known);
  input->checked = offset + count;
}

// A program of a copy that has ended, well or not, has closed its side of the ring.
enum rd_reader_state rd_input_state(const struct rd_input *input, struct rd_error *error) {
  struct rd_end ignored;
  if (input->reader != NULL) return rd_reader_state(input->reader, error);
  bool has_ended =
      input->relay != NULL ? rd_relay_has_ended(input->relay, &ignored) : rd_shared_ring_poll_fd(input->shared) < 0;
  return has_ended ? RD_READER_AT_END : RD_READER_READING;
}

bool rd_input_end(struct rd_input *input, struct rd_end *end, struct rd_error *error) {
  *end = (struct rd_end){.producer_status = input->producer_status};
  if (input->relay != NULL) return rd_relay_has_ended(input->relay, end);
  return input->check == NULL || rd_stream_check_sign(input->check, end, error);
}

void rd_input_release(struct rd_input *input, uint64_t offset) {
  rd_ring_release(input->ring, offset);
  if (input->shared != NULL) rd_shared_ring_tell(input->shared);
}

int rd_input_poll_fd(const struct rd_input *input) {
  if (input->shared != NULL) return rd_shared_ring_poll_fd(input->shared);
  return input->reader != NULL ? rd_reader_poll_fd(input->reader) : -1;
}

bool rd_input_expect_news(struct rd_input *input, uint64_t filled) {
  if (input->shared == NULL) return input->reader == NULL || rd_reader_expect_news(input->reader, filled);
  rd_shared_ring_expect_news(input->shared);
  return !has_news(input, filled);
}

void rd_input_woken(struct rd_input *input) {
  if (input->shared != NULL)
    rd_shared_ring_woken(input->shared);
  else
    rd_reader_woken(input->reader);
}

static bool take_source(struct rd_input *input, struct rd_source *source, const char *path,
                        struct rd_control *control) {
  if (source == NULL) return false;
  rd_source_destroy(input->source);
  input->source = source;
  rd_sandbox_close(path, -1);
  struct rd_event ready = {.type = RD_EVENT_READY};
  control->ops->emit(control, &ready);
  int64_t size_bytes = rd_source_size(source);
  struct rd_event size = {.type = RD_EVENT_SIZE, .bytes = (uint64_t)size_bytes};
  if (size_bytes >= 0) control->ops->emit(control, &size);
  return true;
}

// The receiver on this host has seen the commit: END passes through the relay only after the commit.
static bool take_relay(struct rd_input *input, const struct rd_command *command, struct rd_control *control,
                       struct rd_error *error) {
  drop_shared(input);
  input->relay = rd_relay_open(RD_ROLE_SENDER, command->ring_fds, error);
  if (input->relay == NULL) return false;
  input->shared = rd_relay_shared(input->relay);
  input->committed = true;
  rd_sandbox_close(NULL, -1);
  struct rd_event ready = {.type = RD_EVENT_READY};
  control->ops->emit(control, &ready);
  return true;
}

static bool take_ring(struct rd_input *input, const struct rd_command *command, struct rd_error *error) {
  drop_shared(input);
  input->shared = rd_shared_ring_open(RD_RING_READER, command->ring_fds, error);
  return input->shared != NULL;
}

static void drop_shared(struct rd_input *input) {
  if (input->relay == NULL) rd_shared_ring_destroy(input->shared);
  rd_relay_destroy(input->relay);
  input->relay = NULL;
  input->shared = NULL;
}

static bool begin_source(struct rd_input *input, size_t ring_bytes, const struct rd_signing *check,
                         struct rd_error *error) {
  if (!make_ring(input, ring_bytes, error)) return false;
  if (check != NULL) input->check = rd_stream_check_create(check, error);
  if (check != NULL && input->check == NULL) return false;
  if (input->shared != NULL) return true;
  input->reader = rd_reader_create(input->source, input->ring, input->check, error);
  return input->reader != NULL;
}

// That of a program of a copy begins to fill when it is made.
static bool make_ring(struct rd_input *input, size_t ring_bytes, struct rd_error *error) {
  size_t least_bytes = RD_INPUT_SHARED_MIN_BYTES;
  if (input->shared == NULL)
    input->ring = rd_ring_create(ring_bytes, error);
  else if (rd_shared_ring_make(input->shared, ring_bytes > least_bytes ? ring_bytes : least_bytes, error))
    input->ring = rd_shared_ring_get(input->shared, error);
  return input->ring != NULL;
}

static bool has_news(const struct rd_input *input, uint64_t filled) {
  struct rd_error error;
  if (input->ring == NULL) return rd_shared_ring_get(input->shared, &error) != NULL || error.code != RD_CODE_OK;
  return rd_ring_filled(input->ring) > filled || rd_input_state(input, &error) != RD_READER_READING;
}
