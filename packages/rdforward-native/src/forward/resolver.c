// SPDX-License-Identifier: Apache-2.0
#include "forward/resolver.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

struct job {
  struct job *next;
  struct rd_place target;
  struct rd_resolution resolution;
};

struct jobs {
  struct job *first, **end;
};

struct rd_resolver {
  pthread_mutex_t mutex;
  pthread_cond_t added;
  struct jobs waiting, done;
  int event_fd;
  bool runs, ends;
};

static bool is_name(const char *address);
static bool start_thread(struct rd_resolver *resolver, struct rd_error *error);
static void *run(void *context);
static void add(struct jobs *jobs, struct job *job);
static struct job *take(struct jobs *jobs);

struct rd_resolver *rd_resolver_create(struct rd_error *error) {
  struct rd_resolver *resolver = rd_memory_new(1, sizeof *resolver);
  resolver->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (resolver->event_fd < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot look names up");
    free(resolver);
    return NULL;
  }
  pthread_mutex_init(&resolver->mutex, NULL);
  pthread_cond_init(&resolver->added, NULL);
  resolver->waiting.end = &resolver->waiting.first;
  resolver->done.end = &resolver->done.first;
  return resolver;
}

// A thread that may be in a lookup of many seconds keeps the memory that it uses.
void rd_resolver_destroy(struct rd_resolver *resolver) {
  if (resolver == NULL) return;
  pthread_mutex_lock(&resolver->mutex);
  resolver->ends = true;
  bool runs = resolver->runs;
  pthread_cond_signal(&resolver->added);
  pthread_mutex_unlock(&resolver->mutex);
  if (runs) return;
  rd_cleanup_fd(&resolver->event_fd);
  free(resolver);
}

enum rd_outcome rd_resolver_find(struct rd_resolver *resolver, uint64_t stream, const struct rd_place *target,
                                 struct rd_dial *dial, struct rd_error *error) {
  *dial = (struct rd_dial){0};
  if (strcmp(target->address, "localhost") == 0) { // also in a build that cannot look up names
    dial->count = rd_socket_address_find("::1", target->port, dial->addresses, 1, error);
    dial->count += rd_socket_address_find("127.0.0.1", target->port, dial->addresses + dial->count, 1, error);
    return RD_OUTCOME_DONE;
  }
  if (!is_name(target->address)) {
    dial->count = rd_socket_address_find(target->address, target->port, dial->addresses, RD_DIAL_ADDRESSES, error);
    return dial->count > 0 ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
  }
  if (!start_thread(resolver, error)) return RD_OUTCOME_FAILED;
  struct job *job = rd_memory_new(1, sizeof *job);
  job->target = *target;
  job->resolution.stream = stream;
  pthread_mutex_lock(&resolver->mutex);
  add(&resolver->waiting, job);
  pthread_cond_signal(&resolver->added);
  pthread_mutex_unlock(&resolver->mutex);
  return RD_OUTCOME_AGAIN;
}

int rd_resolver_fd(const struct rd_resolver *resolver) {
  return resolver->event_fd;
}

bool rd_resolver_take(struct rd_resolver *resolver, struct rd_resolution *resolution) {
  uint64_t count;
  rd_read_some(resolver->event_fd, &count, sizeof count);
  pthread_mutex_lock(&resolver->mutex);
  struct job *job = take(&resolver->done);
  pthread_mutex_unlock(&resolver->mutex);
  if (job == NULL) return false;
  *resolution = job->resolution;
  free(job);
  return true;
}

static bool is_name(const char *address) {
  struct in_addr ipv4;
  return address[0] != '/' && strchr(address, ':') == NULL && inet_pton(AF_INET, address, &ipv4) != 1;
}

static bool start_thread(struct rd_resolver *resolver, struct rd_error *error) {
  pthread_t thread;
  sigset_t all, before;
  if (resolver->runs) return true;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int failure = pthread_create(&thread, NULL, run, resolver);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  resolver->runs = failure == 0;
  errno = failure;
  if (failure != 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot look names up");
  if (failure == 0) pthread_detach(thread);
  return failure == 0;
}

static void *run(void *context) {
  struct rd_resolver *resolver = context;
  const uint64_t one = 1;
  pthread_mutex_lock(&resolver->mutex);
  while (!resolver->ends) {
    struct job *job = take(&resolver->waiting);
    if (job == NULL) {
      pthread_cond_wait(&resolver->added, &resolver->mutex);
      continue;
    }
    pthread_mutex_unlock(&resolver->mutex);
    struct rd_dial *dial = &job->resolution.dial;
    dial->count = rd_socket_address_find(job->target.address, job->target.port, dial->addresses, RD_DIAL_ADDRESSES,
                                         &job->resolution.error);
    pthread_mutex_lock(&resolver->mutex);
    add(&resolver->done, job);
    rd_write_some(resolver->event_fd, &one, sizeof one);
  }
  pthread_mutex_unlock(&resolver->mutex);
  return NULL;
}

static void add(struct jobs *jobs, struct job *job) {
  job->next = NULL;
  *jobs->end = job;
  jobs->end = &job->next;
}

static struct job *take(struct jobs *jobs) {
  struct job *job = jobs->first;
  if (job == NULL) return NULL;
  jobs->first = job->next;
  if (jobs->first == NULL) jobs->end = &jobs->first;
  return job;
}
