// SPDX-License-Identifier: Apache-2.0
#include "dials.h"

#include "io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RETRY_MS 200
// Of one that is tried again and again, each time twice as long: TCP would send a lost packet again when it is too
// late.
#define ATTEMPT_LEAST_MS 250
#define ATTEMPT_MOST_MS 3000
#define ADDRESS_WORDS_BYTES 320u

static void begin(struct rd_dials *dials, struct rd_dial *dial);
static int accept_from(struct rd_dials *dials, struct rd_dial *dial, struct rd_transport **transport);
static int try_longer(struct rd_dials *dials, struct rd_dial *dial);
static void no_answer(const struct rd_dials *dials, const struct rd_dial *dial, struct rd_error *error);
static void failed(struct rd_dials *dials, struct rd_dial *dial, int number, const struct rd_error *error);
static bool waits_for_rdma(const struct rd_dials *dials, const struct rd_dial *dial);
static bool is_under_way(const struct rd_dial *dial);
static int64_t until_ms(const struct rd_dials *dials, const struct rd_dial *dial);

bool rd_dials_add(struct rd_dials *dials, const struct rd_address *addresses, size_t count, struct rd_error *error) {
  if (count == 0 || count > RD_DIALS_MOST - dials->count) {
    rd_error_set(error, RD_CODE_USAGE, "%zu addresses cannot be dialled at once", dials->count + count);
    return false;
  }
  if (dials->count == 0) dials->failure = (struct rd_error){.code = RD_CODE_OK};
  int64_t now_ms = rd_now_ms();
  dials->until_ms = now_ms + dials->config.timeout_ms;
  struct rd_dial *added = &dials->each[dials->count];
  dials->count += count;
  for (size_t i = 0; i < count; i++) added[i] = (struct rd_dial){.address = addresses[i], .try_at_ms = now_ms};
  for (size_t i = 0; i < count; i++) {
    if (waits_for_rdma(dials, &added[i]))
      added[i].try_at_ms = now_ms + dials->config.timeout_ms / 4;
    else
      begin(dials, &added[i]);
  }
  return true;
}

void rd_dials_again(struct rd_dials *dials, const struct rd_address *address) {
  struct rd_dial dial = {.address = *address};
  rd_dials_clear(dials);
  dials->failure = (struct rd_error){.code = RD_CODE_OK};
  dials->again = true;
  dials->attempt_ms = address->rdma ? ATTEMPT_MOST_MS : ATTEMPT_LEAST_MS;
  dials->each[0] = dial;
  dials->count = 1;
  begin(dials, &dials->each[0]);
}

void rd_dials_retry(struct rd_dials *dials) {
  dials->each[0].try_at_ms = rd_now_ms() + RETRY_MS;
}

bool rd_dials_once_more(struct rd_dials *dials, const struct rd_address *address) {
  for (size_t i = 0; i < dials->count; i++) {
    struct rd_dial *dial = &dials->each[i];
    bool is_it = dial->address.rdma == address->rdma && dial->address.port == address->port &&
                 strcmp(dial->address.host, address->host) == 0;
    if (!is_it || is_under_way(dial) || dial->more == RD_DIALS_MORE_MOST) continue;
    dial->more++;
    dial->try_at_ms = rd_now_ms() + RETRY_MS;
    return dial->try_at_ms < dials->until_ms;
  }
  return false;
}

bool rd_dials_next(struct rd_dials *dials, struct rd_transport **transport, const struct rd_address **address) {
  for (size_t i = 0; i < dials->count; i++) {
    struct rd_dial *dial = &dials->each[i];
    if (dial->try_at_ms > 0 && dial->try_at_ms <= rd_now_ms()) begin(dials, dial);
    if (dial->connector == NULL || accept_from(dials, dial, transport) <= 0) continue;
    rd_connector_destroy(dial->connector);
    dial->connector = NULL;
    *address = &dial->address;
    return true;
  }
  return false;
}

void rd_dials_let_tcp_try(struct rd_dials *dials) {
  int64_t now_ms = rd_now_ms();
  for (size_t i = 0; i < dials->count; i++) {
    struct rd_dial *dial = &dials->each[i];
    if (!dial->address.rdma && dial->try_at_ms > now_ms) dial->try_at_ms = now_ms;
  }
}

bool rd_dials_under_way(const struct rd_dials *dials) {
  for (size_t i = 0; i < dials->count; i++)
    if (is_under_way(&dials->each[i])) return true;
  return false;
}

// A refused key is worth more than an address that did not answer.
void rd_dials_note(struct rd_dials *dials, const struct rd_error *error) {
  struct rd_error *sum = &dials->failure;
  size_t used = strnlen(sum->message, sizeof sum->message - 1);
  snprintf(sum->message + used, sizeof sum->message - used, "%s%s", used > 0 ? "; " : "", error->message);
  if (error->code == RD_CODE_KEY_REFUSED) sum->code = RD_CODE_KEY_REFUSED;
  if (sum->code == RD_CODE_OK) sum->code = RD_CODE_CANNOT_CONNECT; // whatever was there, it was not our peer
}

void rd_dials_clear(struct rd_dials *dials) {
  for (size_t i = 0; i < dials->count; i++) rd_connector_destroy(dials->each[i].connector);
  dials->count = 0;
  dials->again = false;
}

size_t rd_dials_polls(const struct rd_dials *dials, struct pollfd *polls) {
  size_t count = 0;
  for (size_t i = 0; i < dials->count; i++) {
    const struct rd_connector *connector = dials->each[i].connector;
    if (connector != NULL)
      polls[count++] = (struct pollfd){.fd = connector->ops->poll_fd(connector), .events = POLLIN | POLLOUT};
  }
  return count;
}

int64_t rd_dials_due_ms(const struct rd_dials *dials) {
  int64_t due_ms = INT64_MAX;
  for (size_t i = 0; i < dials->count; i++) {
    const struct rd_dial *dial = &dials->each[i];
    int64_t at_ms = dial->try_at_ms > 0 ? dial->try_at_ms : until_ms(dials, dial);
    if (is_under_way(dial) && at_ms < due_ms) due_ms = at_ms;
  }
  return due_ms;
}

static void begin(struct rd_dials *dials, struct rd_dial *dial) {
  struct rd_error error;
  dial->try_at_ms = 0;
  dial->begun_at_ms = rd_now_ms();
  dial->connector = dial->address.rdma ? rd_verbs_dial(&dial->address, dials->config.poll, &error)
                                       : rd_tcp_dial(&dial->address, &error);
  if (dial->connector == NULL) failed(dials, dial, errno, &error);
}

// 1: there is a connection; 0 not yet; -1 it failed, and may wait to be tried again.
static int accept_from(struct rd_dials *dials, struct rd_dial *dial, struct rd_transport **transport) {
  struct rd_error error;
  int accepted = dial->connector->ops->accept(dial->connector, transport, &error);
  int number = errno;
  if (accepted == 0 && rd_now_ms() >= until_ms(dials, dial)) {
    if (dials->again) return try_longer(dials, dial);
    no_answer(dials, dial, &error);
    number = ETIMEDOUT;
    accepted = -1;
  }
  if (accepted < 0) failed(dials, dial, number, &error);
  return accepted;
}

// Another attempt in place of this one.
static int try_longer(struct rd_dials *dials, struct rd_dial *dial) {
  dials->attempt_ms = 2 * dials->attempt_ms < ATTEMPT_MOST_MS ? 2 * dials->attempt_ms : ATTEMPT_MOST_MS;
  rd_connector_destroy(dial->connector);
  dial->connector = NULL;
  begin(dials, dial);
  return 0;
}

static void no_answer(const struct rd_dials *dials, const struct rd_dial *dial, struct rd_error *error) {
  const struct rd_address *address = &dial->address;
  char port[16] = "";
  if (address->port > 0) snprintf(port, sizeof port, ":%u", address->port);
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s%s%s: no answer in %g s", address->host, port,
               address->rdma ? " over rdma" : "", (double)dials->config.timeout_ms / 1000);
}

// `number` is the errno of the dial.
static void failed(struct rd_dials *dials, struct rd_dial *dial, int number, const struct rd_error *error) {
  bool nobody_listens = number == ECONNREFUSED || number == ENOENT;
  rd_connector_destroy(dial->connector);
  dial->connector = NULL;
  if (dials->again && !nobody_listens) {
    rd_dials_retry(dials);
    return;
  }
  int64_t after_ms = waits_for_rdma(dials, dial) ? dials->config.timeout_ms / 4 : RETRY_MS;
  int64_t try_at_ms = rd_now_ms() + after_ms;
  if (dials->config.retry_refused && !dials->again && nobody_listens && try_at_ms < dials->until_ms)
    dial->try_at_ms = try_at_ms;
  else
    rd_dials_note(dials, error);
  if (dial->address.rdma && dials->config.rdma_first) rd_dials_let_tcp_try(dials);
}

// So that of two listeners that open one after the other it is RDMA that is found.
static bool waits_for_rdma(const struct rd_dials *dials, const struct rd_dial *dial) {
  if (!dials->config.rdma_first || dial->address.rdma) return false;
  for (size_t i = 0; i < dials->count; i++)
    if (dials->each[i].address.rdma && is_under_way(&dials->each[i])) return true;
  return false;
}

static bool is_under_way(const struct rd_dial *dial) {
  return dial->connector != NULL || dial->try_at_ms > 0;
}

static int64_t until_ms(const struct rd_dials *dials, const struct rd_dial *dial) {
  return dials->again ? dial->begun_at_ms + dials->attempt_ms : dials->until_ms;
}
