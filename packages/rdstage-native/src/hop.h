// SPDX-License-Identifier: Apache-2.0
// One end of a hop or of a local link: an rdsend or an rdrecv, and the file it may have to open.
#ifndef RD_STAGE_HOP_H
#define RD_STAGE_HOP_H

#include "agent.h"
#include "hop_program.h"
#include "path_expansion.h"
#include "usage.h"

struct hop;

// What its link wants to know.
struct hop_handler {
  void (*changed)(void *context); // it is ready, or over
  void (*end)(void *context);     // rdrecv: everything is written, end of file may be seen
  // It said its last word, or died. `well`: delivered, or the reader wanted no more.
  void (*finished)(void *context, bool well);
  void *context;
};

struct hop {
  struct agent *agent;
  const struct prepare_spec *prepare;
  const struct link_spec *link;
  const struct stage_spec *file; // NULL: its input or output is a descriptor
  enum hop_side end;
  struct hop_handler handler;
  int data_fd, adopt_fd; // until the program runs; borrowed
  struct path_expansion *expansion;
  struct hop_program *program;
  json_t *early;      // commands to connect that came before it was started; NULL: none
  bool ready;         // its input or output is open; of a local link: it is joined to its other end
  bool aborted;       // by us: how it ends then is our doing
  bool exit_expected; // and being killed by a signal is, too
  bool finished;      // said its last word
  bool over;          // and was reaped
};

struct hop *hop_create(struct agent *agent, const struct prepare_spec *prepare, const struct link_spec *link,
                       enum hop_side end, const struct hop_handler *handler);
void hop_destroy(struct hop *hop); // NULL-safe

// Begins to make it ready; a failure is told, and it is over. The descriptors are borrowed until it is ready or over.
// `adopt_fd`: a connected socket to the other end; -1: it will listen or dial.
void hop_open(struct hop *hop, int data_fd, int adopt_fd);
// Listen, dial or show, as rdpipe said it; borrowed. Also before it is ready.
void hop_connect(struct hop *hop, json_t *order);
void hop_consumer(struct hop *hop, pid_t pid);       // who reads what rdrecv writes
void hop_commit(struct hop *hop, int status);        // the producer ended well
void hop_abort(struct hop *hop, const char *reason); // idempotent
void hop_expect_exit(struct hop *hop);               // its program may be killed from now on
void hop_release(struct hop *hop);                   // nobody reads what rdrecv writes

pid_t hop_pid(const struct hop *hop); // of the program; -1: none runs
void hop_drain(struct hop *hop);
// True when that child was one of its own.
bool hop_child_ended(struct hop *hop, pid_t pid, int status, const struct rd_usage *usage);

#endif
