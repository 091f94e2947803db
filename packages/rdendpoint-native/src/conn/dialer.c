// SPDX-License-Identifier: Apache-2.0
#include "conn/dialer.h"

#include "base/io.h"
#include "transport/tcp/connector.h"
#include "transport/verbs/connector.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RETRY_MS 200
// The time limit of a redial attempt, doubled each time: TCP alone would retransmit a lost packet too late.
#define ATTEMPT_MIN_MS 250
#define ATTEMPT_MAX_MS 3000

static void begin(struct rd_dialer *dialer, struct rd_attempt *attempt);
static enum rd_outcome accept_from(struct rd_dialer *dialer, struct rd_attempt *attempt,
                                   struct rd_transport **transport);
static enum rd_outcome try_longer(struct rd_dialer *dialer, struct rd_attempt *attempt);
static void no_answer(const struct rd_dialer *dialer, const struct rd_attempt *attempt, struct rd_error *error);
static void failed(struct rd_dialer *dialer, struct rd_attempt *attempt, int number, const struct rd_error *error);
static bool waits_for_rdma(const struct rd_dialer *dialer, const struct rd_attempt *attempt);
static bool is_under_way(const struct rd_attempt *attempt);
static int64_t until_ms(const struct rd_dialer *dialer, const struct rd_attempt *attempt);

bool rd_dialer_add(struct rd_dialer *dialer, const struct rd_address *addresses, size_t count, struct rd_error *error) {
  if (count == 0 || count > RD_DIALER_MAX - dialer->count) {
    rd_error_set(error, RD_CODE_USAGE, "%zu addresses cannot be dialled at once", dialer->count + count);
    return false;
  }
  if (dialer->count == 0) dialer->failure = (struct rd_error){.code = RD_CODE_OK};
  int64_t now_ms = rd_now_ms();
  dialer->until_ms = now_ms + dialer->config.timeout_ms;
  struct rd_attempt *added = &dialer->each[dialer->count];
  dialer->count += count;
  for (size_t i = 0; i < count; i++) added[i] = (struct rd_attempt){.address = addresses[i], .try_at_ms = now_ms};
  for (size_t i = 0; i < count; i++) {
    if (waits_for_rdma(dialer, &added[i]))
      added[i].try_at_ms = now_ms + dialer->config.timeout_ms / 4;
    else
      begin(dialer, &added[i]);
  }
  return true;
}

void rd_dialer_redial(struct rd_dialer *dialer, const struct rd_address *addresses, size_t count) {
  rd_dialer_clear(dialer);
  dialer->failure = (struct rd_error){.code = RD_CODE_OK};
  dialer->redials = true;
  dialer->turn = dialer->refused = 0;
  dialer->attempt_ms = addresses[0].rdma ? ATTEMPT_MAX_MS : ATTEMPT_MIN_MS;
  for (size_t i = 0; i < count; i++) dialer->each[i] = (struct rd_attempt){.address = addresses[i]};
  dialer->count = count;
  begin(dialer, &dialer->each[0]);
}

void rd_dialer_retry(struct rd_dialer *dialer) {
  dialer->turn = (dialer->turn + 1) % dialer->count;
  dialer->each[dialer->turn].try_at_ms = rd_now_ms() + RETRY_MS;
}

bool rd_dialer_try_once_more(struct rd_dialer *dialer, const struct rd_address *address) {
  for (size_t i = 0; i < dialer->count; i++) {
    struct rd_attempt *attempt = &dialer->each[i];
    if (!rd_address_is(&attempt->address, address) || is_under_way(attempt) ||
        attempt->extra_tries == RD_DIALER_EXTRA_TRIES)
      continue;
    attempt->extra_tries++;
    attempt->try_at_ms = rd_now_ms() + RETRY_MS;
    return attempt->try_at_ms < dialer->until_ms;
  }
  return false;
}

bool rd_dialer_next(struct rd_dialer *dialer, struct rd_transport **transport, const struct rd_address **address) {
  for (size_t i = 0; i < dialer->count; i++) {
    struct rd_attempt *attempt = &dialer->each[i];
    if (attempt->try_at_ms > 0 && attempt->try_at_ms <= rd_now_ms()) begin(dialer, attempt);
    if (attempt->connector == NULL || accept_from(dialer, attempt, transport) != RD_OUTCOME_DONE) continue;
    rd_connector_destroy(attempt->connector);
    attempt->connector = NULL;
    *address = &attempt->address;
    return true;
  }
  return false;
}

void rd_dialer_start_tcp(struct rd_dialer *dialer) {
  int64_t now_ms = rd_now_ms();
  for (size_t i = 0; i < dialer->count; i++) {
    struct rd_attempt *attempt = &dialer->each[i];
    if (!attempt->address.rdma && attempt->try_at_ms > now_ms) attempt->try_at_ms = now_ms;
  }
}

bool rd_dialer_under_way(const struct rd_dialer *dialer) {
  for (size_t i = 0; i < dialer->count; i++)
    if (is_under_way(&dialer->each[i])) return true;
  return false;
}

// A refused key counts more than an address that did not answer.
void rd_dialer_add_failure(struct rd_dialer *dialer, const struct rd_error *error) {
  struct rd_error *sum = &dialer->failure;
  size_t used = strnlen(sum->message, sizeof sum->message - 1);
  snprintf(sum->message + used, sizeof sum->message - used, "%s%s", used > 0 ? "; " : "", error->message);
  if (error->code == RD_CODE_KEY_REFUSED) sum->code = RD_CODE_KEY_REFUSED;
  if (sum->code == RD_CODE_OK) sum->code = RD_CODE_CANNOT_CONNECT; // the other end was not the peer
}

void rd_dialer_clear(struct rd_dialer *dialer) {
  for (size_t i = 0; i < dialer->count; i++) rd_connector_destroy(dialer->each[i].connector);
  dialer->count = 0;
  dialer->redials = false;
}

size_t rd_dialer_polls(const struct rd_dialer *dialer, struct pollfd *polls) {
  size_t count = 0;
  for (size_t i = 0; i < dialer->count; i++) {
    const struct rd_connector *connector = dialer->each[i].connector;
    if (connector != NULL)
      polls[count++] = (struct pollfd){.fd = connector->ops->poll_fd(connector), .events = POLLIN | POLLOUT};
  }
  return count;
}

int64_t rd_dialer_due_ms(const struct rd_dialer *dialer) {
  int64_t due_ms = INT64_MAX;
  for (size_t i = 0; i < dialer->count; i++) {
    const struct rd_attempt *attempt = &dialer->each[i];
    int64_t at_ms = attempt->try_at_ms > 0 ? attempt->try_at_ms : until_ms(dialer, attempt);
    if (is_under_way(attempt) && at_ms < due_ms) due_ms = at_ms;
  }
  return due_ms;
}

static void begin(struct rd_dialer *dialer, struct rd_attempt *attempt) {
  struct rd_error error;
  attempt->try_at_ms = 0;
  attempt->begun_at_ms = rd_now_ms();
  attempt->connector = attempt->address.rdma ? rd_verbs_dial(&attempt->address, dialer->config.poll, &error)
                                             : rd_tcp_dial(&attempt->address, &error);
  if (attempt->connector == NULL) failed(dialer, attempt, errno, &error);
}

// Takes a connection. After FAILED the attempt may be waiting for its next try.
static enum rd_outcome accept_from(struct rd_dialer *dialer, struct rd_attempt *attempt,
                                   struct rd_transport **transport) {
  struct rd_error error;
  enum rd_outcome accepted = attempt->connector->ops->accept(attempt->connector, transport, &error);
  int number = errno;
  if (accepted == RD_OUTCOME_AGAIN && rd_now_ms() >= until_ms(dialer, attempt)) {
    if (dialer->redials) return try_longer(dialer, attempt);
    no_answer(dialer, attempt, &error);
    number = ETIMEDOUT;
    accepted = RD_OUTCOME_FAILED;
  }
  if (accepted == RD_OUTCOME_FAILED) failed(dialer, attempt, number, &error);
  return accepted;
}

// Replaces the attempt by one with a longer time limit, to the next address.
static enum rd_outcome try_longer(struct rd_dialer *dialer, struct rd_attempt *attempt) {
  dialer->attempt_ms = 2 * dialer->attempt_ms < ATTEMPT_MAX_MS ? 2 * dialer->attempt_ms : ATTEMPT_MAX_MS;
  rd_connector_destroy(attempt->connector);
  attempt->connector = NULL;
  dialer->turn = (dialer->turn + 1) % dialer->count;
  begin(dialer, &dialer->each[dialer->turn]);
  return RD_OUTCOME_AGAIN;
}

static void no_answer(const struct rd_dialer *dialer, const struct rd_attempt *attempt, struct rd_error *error) {
  const struct rd_address *address = &attempt->address;
  char port[16] = "";
  if (address->port > 0) snprintf(port, sizeof port, ":%u", address->port);
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s%s%s: no answer in %g s", address->host, port,
               address->rdma ? " over RDMA" : "", (double)dialer->config.timeout_ms / 1000);
}

// `number` is the errno of the dial.
static void failed(struct rd_dialer *dialer, struct rd_attempt *attempt, int number, const struct rd_error *error) {
  bool is_refused = number == ECONNREFUSED || number == ENOENT;
  rd_connector_destroy(attempt->connector);
  attempt->connector = NULL;
  dialer->refused = is_refused ? dialer->refused + 1 : 0;
  if (dialer->redials && dialer->refused < dialer->count) {
    rd_dialer_retry(dialer);
    return;
  }
  int64_t after_ms = waits_for_rdma(dialer, attempt) ? dialer->config.timeout_ms / 4 : RETRY_MS;
  int64_t try_at_ms = rd_now_ms() + after_ms;
  if (dialer->config.retry_refused && !dialer->redials && is_refused && try_at_ms < dialer->until_ms)
    attempt->try_at_ms = try_at_ms;
  else
    rd_dialer_add_failure(dialer, error);
  if (attempt->address.rdma && dialer->config.rdma_first) rd_dialer_start_tcp(dialer);
}

// If two listeners open one after the other, RDMA should be found first.
static bool waits_for_rdma(const struct rd_dialer *dialer, const struct rd_attempt *attempt) {
  if (!dialer->config.rdma_first || attempt->address.rdma) return false;
  for (size_t i = 0; i < dialer->count; i++)
    if (dialer->each[i].address.rdma && is_under_way(&dialer->each[i])) return true;
  return false;
}

static bool is_under_way(const struct rd_attempt *attempt) {
  return attempt->connector != NULL || attempt->try_at_ms > 0;
}

static int64_t until_ms(const struct rd_dialer *dialer, const struct rd_attempt *attempt) {
  return dialer->redials ? attempt->begun_at_ms + dialer->attempt_ms : dialer->until_ms;
}
