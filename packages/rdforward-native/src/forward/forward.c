// SPDX-License-Identifier: Apache-2.0
#include "forward/forward.h"

#include "base/cleanup.h"
#include "base/descriptor_limit.h"
#include "base/io.h"
#include "base/memory.h"
#include "forward/background.h"
#include "forward/carrier.h"
#include "forward/confinement.h"
#include "forward/mux.h"
#include "forward/options.h"
#include "forward/outbox.h"
#include "forward/table.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#define STATUS_FAILED 255 // the same as ssh's

// State of the near end.
struct near {
  struct rd_forward_options options;
  struct rd_forward_listener *listeners; // for -L
  size_t listener_count;
  size_t unopened;          // listeners that failed
  struct rd_place *targets; // for -R
  struct rd_carrier carrier;
  int signal_fd, ready_fd;
};

static int run_near(const struct rd_forward_options *options);
static bool listen_all(struct near *near, struct rd_error *error);
static bool has_listeners(const struct near *near, size_t failed, struct rd_error *error);
static bool keeps_going(const struct near *near);
static int carry(struct near *near);
static enum rd_mux_end forward(struct near *near, struct rd_byte_queue received, struct rd_error *error);
static void say_goodbye(const struct near *near);
static int run_far(void);
static enum rd_mux_end serve(struct rd_table *table, int in_fd, int out_fd, int signal_fd, struct rd_error *error);
static int open_signals(void);
static void print_ports(const struct rd_specs *remote, const struct rd_specs *asked);
static void print_line(const char *text);

int rd_forward_main(int argc, char **argv) {
  struct rd_forward_options options;
  struct rd_error error;
  int status = STATUS_FAILED;
  signal(SIGPIPE, SIG_IGN);
  if (!rd_forward_options_parse(argc, argv, &options, &error))
    print_line(error.message);
  else if (options.help)
    status = fputs(rd_forward_help, stdout) >= 0 && fflush(stdout) == 0 ? 0 : 1;
  else
    status = options.is_far ? run_far() : run_near(&options);
  rd_forward_options_clear(&options);
  return status;
}

static int run_near(const struct rd_forward_options *options) {
  struct rd_error error;
  struct near near = {.options = *options, .carrier = RD_NO_CARRIER, .signal_fd = -1, .ready_fd = -1};
  int status = STATUS_FAILED;
  rd_descriptor_limit_raise(); // a connection takes a descriptor
  near.signal_fd = open_signals();
  bool is_good = listen_all(&near, &error) && (!options->background || rd_background_begin(&near.ready_fd, &error)) &&
                 rd_carrier_start(&near.carrier, options->command, &error);
  if (is_good)
    status = carry(&near);
  else
    print_line(error.message);
  for (size_t i = 0; i < near.listener_count; i++) rd_forward_listener_close(&near.listeners[i]);
  free(near.listeners);
  free(near.targets);
  rd_cleanup_fd(&near.signal_fd);
  return status;
}

// Runs before anything is started, so that a port in use is reported immediately.
static bool listen_all(struct near *near, struct rd_error *error) {
  const struct rd_specs *local = &near->options.local, *remote = &near->options.remote;
  near->listeners = rd_memory_new(local->count + 1, sizeof *near->listeners);
  near->targets = rd_memory_new(remote->count + 1, sizeof *near->targets);
  for (size_t i = 0; i < remote->count; i++) near->targets[i] = remote->items[i].target;
  for (size_t i = 0; i < local->count; i++) {
    struct rd_forward_listener *listener = &near->listeners[near->listener_count++];
    if (rd_forward_listener_open(listener, &local->items[i].listen, (uint16_t)i, error)) continue;
    if (!keeps_going(near)) return false;
    print_line(error->message);
    near->unopened++;
  }
  return has_listeners(near, 0, error);
}

// `failed`: the number of listeners that failed at the far end.
static bool has_listeners(const struct near *near, size_t failed, struct rd_error *error) {
  const struct rd_forward_options *options = &near->options;
  if (near->unopened + failed < options->local.count + options->remote.count) return true;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "none of the forwards can listen");
  return false;
}

// A single forward that fails leaves nothing to do.
static bool keeps_going(const struct near *near) {
  return near->options.keep_going && near->options.local.count + near->options.remote.count > 1;
}

static int carry(struct near *near) {
  struct rd_table_channel channel = {near->carrier.in_fd, near->carrier.out_fd, near->signal_fd, {0}};
  struct rd_error error = {0};
  struct rd_specs asked = near->options.remote;
  struct rd_spec *before = rd_memory_new(asked.count + 1, sizeof *before);
  if (asked.count > 0) memcpy(before, asked.items, asked.count * sizeof *before);
  asked.items = before;
  size_t failed;
  enum rd_table_end agreed = rd_table_offer(&channel, &near->options.local, &near->options.remote,
                                            keeps_going(near) ? print_line : NULL, &failed, &error);
  if (agreed == RD_TABLE_AGREED && !has_listeners(near, failed, &error)) agreed = RD_TABLE_FAILED;
  enum rd_mux_end end = agreed == RD_TABLE_SIGNALLED ? RD_MUX_SIGNALLED
                        : agreed == RD_TABLE_LOST    ? RD_MUX_LOST
                                                     : RD_MUX_FAILED;
  if (agreed == RD_TABLE_AGREED) {
    print_ports(&near->options.remote, &asked);
    rd_background_detach(&near->ready_fd);
    rd_forward_confine(&(struct rd_forward_needs){.targets = near->targets,
                                                  .target_count = near->options.remote.count,
                                                  .listeners = near->listeners,
                                                  .listener_count = near->listener_count,
                                                  .child = near->carrier.pid});
    end = forward(near, channel.received, &error);
  } else {
    rd_byte_queue_clear(&channel.received);
    say_goodbye(near);
  }
  free(before);
  if (end == RD_MUX_FAILED) print_line(error.message);
  struct signalfd_siginfo signal;
  if (end == RD_MUX_SIGNALLED) rd_read_some(near->signal_fd, &signal, sizeof signal);
  int status = rd_carrier_end(&near->carrier, near->signal_fd, agreed == RD_TABLE_SIGNALLED);
  // The command has already reported its own failure.
  if (end == RD_MUX_BYE || (end == RD_MUX_LOST && status == 0)) print_line("the other end is gone");
  return STATUS_FAILED;
}

static enum rd_mux_end forward(struct near *near, struct rd_byte_queue received, struct rd_error *error) {
  struct rd_mux_settings settings = {.is_near = true,
                                     .targets = near->targets,
                                     .target_count = near->options.remote.count,
                                     .listeners = near->listeners,
                                     .listener_count = near->listener_count,
                                     .in_fd = near->carrier.in_fd,
                                     .out_fd = near->carrier.out_fd,
                                     .signal_fd = near->signal_fd,
                                     .received = received,
                                     .warn = print_line};
  return rd_mux_run(&settings, error);
}

// Without BYE the other end would report the end of its input as a failure.
static void say_goodbye(const struct near *near) {
  struct rd_outbox outbox = {0};
  rd_outbox_put(&outbox, &(struct rd_forward_frame){.type = RD_FORWARD_BYE});
  rd_outbox_flush(&outbox, near->carrier.out_fd);
  rd_byte_queue_clear(&outbox.queue);
}

static int run_far(void) {
  static const int statuses[] = {[RD_MUX_SIGNALLED] = 128 + SIGTERM, [RD_MUX_BYE] = 0, [RD_MUX_LOST] = 5};
  struct rd_error error = {.code = RD_CODE_INTERNAL};
  struct rd_table table;
  rd_descriptor_limit_raise(); // a connection takes a descriptor
  RD_AUTO_CLOSE int signal_fd = open_signals();
  RD_AUTO_CLOSE int in_fd = rd_pipe_reopen(STDIN_FILENO, O_RDONLY);
  RD_AUTO_CLOSE int out_fd = rd_pipe_reopen(STDOUT_FILENO, O_WRONLY);
  if (in_fd < 0 || out_fd < 0) {
    print_line("--far: standard input and output are not pipes (rdssh -N -L starts this program)");
    return STATUS_FAILED;
  }
  close(STDIN_FILENO); // otherwise the ends of these pipes would be noticed late
  close(STDOUT_FILENO);
  enum rd_mux_end end = serve(&table, in_fd, out_fd, signal_fd, &error);
  rd_table_clear(&table);
  if (end != RD_MUX_FAILED) return statuses[end];
  print_line(error.message);
  return rd_code_status(error.code);
}

static enum rd_mux_end serve(struct rd_table *table, int in_fd, int out_fd, int signal_fd, struct rd_error *error) {
  struct rd_table_channel channel = {in_fd, out_fd, signal_fd, {0}};
  enum rd_table_end agreed = rd_table_accept(&channel, table, error);
  if (agreed != RD_TABLE_AGREED) {
    rd_byte_queue_clear(&channel.received);
    return agreed == RD_TABLE_SIGNALLED ? RD_MUX_SIGNALLED : agreed == RD_TABLE_LOST ? RD_MUX_LOST : RD_MUX_FAILED;
  }
  rd_forward_confine(&(struct rd_forward_needs){.targets = table->targets,
                                                .target_count = table->target_count,
                                                .listeners = table->listeners,
                                                .listener_count = table->listener_count});
  struct rd_mux_settings settings = {.targets = table->targets,
                                     .target_count = table->target_count,
                                     .listeners = table->listeners,
                                     .listener_count = table->listener_count,
                                     .in_fd = in_fd,
                                     .out_fd = out_fd,
                                     .signal_fd = signal_fd,
                                     .received = channel.received};
  return rd_mux_run(&settings, error);
}

// SIGHUP stays ignored under nohup.
static int open_signals(void) {
  struct sigaction hangup;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&ends, SIGHUP);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Prints the same lines as ssh, for programs that parse them.
static void print_ports(const struct rd_specs *remote, const struct rd_specs *asked) {
  for (size_t i = 0; i < remote->count; i++) {
    char target[RD_PLACE_TEXT_BYTES], text[RD_PLACE_TEXT_BYTES + 64];
    if (asked->items[i].listen.port != 0 || remote->items[i].listen.port == 0) continue;
    rd_place_text(&remote->items[i].target, target);
    snprintf(text, sizeof text, "Allocated port %u for remote forward to %s\n", remote->items[i].listen.port, target);
    rd_write_all(STDERR_FILENO, text, strlen(text));
  }
}

static void print_line(const char *text) {
  const char *program = getenv("RDPIPE_PROGRAM");
  char line[1024];
  int bytes = snprintf(line, sizeof line, "%.32s: %s\n", program != NULL && *program ? program : RD_FORWARD_NAME, text);
  rd_write_all(STDERR_FILENO, line, bytes < (int)sizeof line ? (size_t)bytes : sizeof line - 1);
}
