// SPDX-License-Identifier: Apache-2.0
// Tests of the observer of a session, and of the averages of a server.
#include "serve/averages.h"
#include "serve/observer.h"

#include "test.h"

#include <string.h>

static char opened_path[512];
static enum rd_rights opened_rights;
static unsigned opened;
static uint64_t received, sent;
static char refusal[512];

static void on_opened(void *context, enum rd_rights rights, const char *path) {
  (void)context;
  opened++;
  opened_rights = rights;
  snprintf(opened_path, sizeof opened_path, "%s", path);
}

static void on_moved(void *context, uint64_t more_received, uint64_t more_sent) {
  (void)context;
  received += more_received;
  sent += more_sent;
}

static void on_refused(void *context, const char *reason) {
  (void)context;
  CHECK(refusal[0] == '\0');
  snprintf(refusal, sizeof refusal, "%s", reason);
}

static struct rd_observer *create(void) {
  refusal[0] = '\0';
  opened = 0;
  received = sent = 0;
  return rd_observer_create(
      &(struct rd_observer_handler){.opened = on_opened, .moved = on_moved, .refused = on_refused});
}

static void ask(struct rd_observer *observer, const char *line) {
  rd_observer_request(observer, line, strlen(line));
}

static void tell(struct rd_observer *observer, const char *line) {
  rd_observer_event(observer, line, strlen(line));
}

static void test_copies(void) {
  struct rd_observer *observer = create();
  ask(observer, "{\"op\":\"ping\"}\nnonsense\n{\"op\":\"prep");
  ask(observer,
      "are\",\"stages\":[{\"settings\":{\"role\":\"compare\",\"target\":\"2f641b\"}},{\"settings\":{\"role\"");
  CHECK(opened == 0);
  ask(observer, ":\"write\"}}]}\n");
  CHECK(opened == 1 && opened_rights == RD_RIGHTS_WRITE && strcmp(opened_path, "/d?") == 0);
  rd_observer_destroy(observer);
  observer = create();
  ask(observer, "{\"stages\":[{\"settings\":{\"sources\":[\"61\",\"62\"],\"role\":\"scan\"}}],\"op\":\"prepare\"}\n");
  CHECK(opened == 1 && opened_rights == RD_RIGHTS_READ && strcmp(opened_path, "a") == 0);
  rd_observer_destroy(observer);
}

static void test_bytes(void) {
  struct rd_observer *observer = create();
  tell(observer, "rdstage/1 serve {}\n{\"event\":\"counters\",\"link\":1,\"end\":\"recv\",\"bytes\":100}\n");
  tell(observer, "{\"bytes\":250,\"end\":\"recv\",\"link\":1,\"event\": \"counters\"}\n"); // in any order
  tell(observer, "{\"event\":\"size\",\"note\":\"counters\",\"link\":1,\"end\":\"recv\",\"bytes\":999}\n");
  tell(observer, "{\"event\":\"counters\",\"link\":1,\"end\":\"send\",\"bytes\":7}\n");
  tell(observer, "{\"event\":\"counters\",\"link\":1,\"end\":\"recv\",\"bytes\":40}\n"); // less than before: ignored
  tell(observer, "{\"event\":\"link_ended\",\"link\":1,\"end\":\"recv\",\"bytes\":300}\n");
  tell(observer, "{\"event\":\"counters\",\"link\":true}\n{\"event\":\"counters\"\n");
  CHECK(received == 300 && sent == 7);
  for (int link = 0; link < 100; link++) {
    char line[128];
    snprintf(line, sizeof line, "{\"event\":\"counters\",\"link\":%d,\"end\":\"send\",\"bytes\":1}\n", 1000 + link);
    tell(observer, line);
  }
  CHECK(sent <= 7 + 32);
  rd_observer_destroy(observer);
}

static void test_refusals(void) {
  struct rd_observer *observer = create();
  tell(observer, "{\"event\":\"exited\",\"message\":\"failed\"}\n{\"event\":\"failed\",\"message\":7}\n");
  tell(observer, "{\"event\":\"failed\",\"message\":\"the connection is lost\"}\n");
  CHECK(refusal[0] == '\0');
  tell(observer, "{\"event\":\"failed\",\"stage\":null,\"code\":\"usage\",\"message\":\"" RD_SERVED_REFUSAL
                 "not \\u001bhere\"}\n");
  tell(observer, "{\"event\":\"failed\",\"message\":\"" RD_SERVED_REFUSAL "again\"}\n");
  CHECK(strcmp(refusal, "not ?here") == 0);
  rd_observer_destroy(observer);
}

// A line without an end takes no more memory than its limit, and the next line is handled.
static void test_long_lines(void) {
  struct rd_observer *observer = create();
  static char much[1 << 16];
  memset(much, 'x', sizeof much);
  for (int i = 0; i < 100; i++) rd_observer_request(observer, much, sizeof much);
  ask(observer, "\n{\"op\":\"prepare\",\"stages\":[{\"settings\":{\"role\":\"read\"}}]}\n");
  CHECK(opened == 1);
  rd_observer_destroy(observer);
}

static void test_averages(void) {
  struct rd_averages averages = {0};
  CHECK(!rd_averages_have_traffic(&averages));
  rd_averages_add(&averages, &(struct rd_average_step){.received = 1000, .sent = 10, .sessions = 2});
  CHECK(rd_averages_over(&averages, 30).received == 100 && rd_averages_over(&averages, 1).sent == 1);
  rd_averages_add(&averages, &(struct rd_average_step){0});
  CHECK(rd_averages_over(&averages, 1).received == 0 && rd_averages_over(&averages, 6).received == 50);
  CHECK(rd_averages_over(&averages, 6).sessions == 1 && rd_averages_have_traffic(&averages));
  for (int i = 0; i < 30; i++) rd_averages_add(&averages, &(struct rd_average_step){0});
  CHECK(!rd_averages_have_traffic(&averages));
}

int main(void) {
  test_copies();
  test_bytes();
  test_refusals();
  test_long_lines();
  test_averages();
  return test_end("observer");
}
