// SPDX-License-Identifier: Apache-2.0
// Connects two network namespaces by a link with a one-way delay.
// `delayed-link NAMESPACE NAMESPACE DELAY_US` creates an interface `slow0` in each, prints `ready`, and keeps them
// while standard input is open. A line of standard input is how many of a million packets from the first namespace are
// lost from now on, at random; `ready` answers it.
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_MAX = 65536, QUEUE_BYTES = 256 << 20, S_NS = 1000000000 };

/** Packets in transit in one direction, oldest first: a ring of headers and bytes. */
struct queue {
  unsigned char *bytes;
  size_t head, tail;
};

struct header {
  int64_t due_ns;
  size_t size;
};

static int interface_in(const char *namespace);
static int carry(const int *ends, int64_t delay_ns);
static bool read_loss(uint32_t *lost_ppm);
static bool take_in(int from, struct queue *queue, int64_t delay_ns, uint32_t lost_ppm);
static uint32_t random_number(void);
static void hand_out(int to, struct queue *queue);
static struct header *oldest(struct queue *queue);
static struct timespec time_until_due(struct queue *queues);
static int64_t now_ns(void);

int main(int argc, char **argv) {
  if (argc != 4) {
    fputs("usage: delayed-link NAMESPACE NAMESPACE DELAY_US\n", stderr);
    return 2;
  }
  int ends[2] = {interface_in(argv[1]), interface_in(argv[2])};
  if (ends[0] < 0 || ends[1] < 0) {
    perror("delayed-link");
    return 1;
  }
  puts("ready");
  fflush(stdout);
  return carry(ends, strtoll(argv[3], NULL, 10) * 1000);
}

static int interface_in(const char *namespace) {
  char path[256];
  snprintf(path, sizeof path, "/var/run/netns/%s", namespace);
  int place = open(path, O_RDONLY | O_CLOEXEC);
  if (place < 0 || setns(place, CLONE_NEWNET) != 0) return -1;
  close(place);
  int end = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  strcpy(request.ifr_name, "slow0");
  return end >= 0 && ioctl(end, TUNSETIFF, &request) == 0 ? end : -1;
}

static int carry(const int *ends, int64_t delay_ns) {
  struct queue queues[2] = {{malloc(QUEUE_BYTES), 0, 0}, {malloc(QUEUE_BYTES), 0, 0}};
  if (queues[0].bytes == NULL || queues[1].bytes == NULL) return 1;
  uint32_t lost_ppm[2] = {0, 0};
  struct pollfd waits[] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  for (;;) {
    struct timespec patience = time_until_due(queues);
    if (ppoll(waits, 3, &patience, NULL) < 0 && errno != EINTR) return 1;
    if (waits[2].revents != 0 && !read_loss(&lost_ppm[0])) return 0;
    for (int side = 0; side < 2; side++) {
      while (take_in(ends[side], &queues[side], delay_ns, lost_ppm[side])) continue;
      hand_out(ends[1 - side], &queues[side]);
    }
  }
}

// Returns false at the end of the input. A line arrives as a whole.
static bool read_loss(uint32_t *lost_ppm) {
  char line[32] = "";
  if (read(STDIN_FILENO, line, sizeof line - 1) <= 0) return false;
  *lost_ppm = (uint32_t)strtoul(line, NULL, 10);
  puts("ready");
  fflush(stdout);
  return true;
}

// Returns false if there is no packet, or no space for one: the kernel keeps the packet then.
static bool take_in(int from, struct queue *queue, int64_t delay_ns, uint32_t lost_ppm) {
  size_t need = sizeof(struct header) + PACKET_MAX;
  bool wrapped = queue->tail < queue->head;
  if (!wrapped && QUEUE_BYTES - queue->tail < 2 * need) {
    // A size of 0 marks the rest of the ring as unused.
    if (queue->head <= need) return false;
    *(struct header *)(queue->bytes + queue->tail) = (struct header){0, 0};
    queue->tail = 0;
    wrapped = true;
  }
  if (wrapped && queue->head - queue->tail <= need) return false;
  struct header *header = (struct header *)(queue->bytes + queue->tail);
  ssize_t size = read(from, header + 1, PACKET_MAX);
  if (size <= 0) return false;
  if (lost_ppm > 0 && random_number() % 1000000 < lost_ppm) return true;
  *header = (struct header){now_ns() + delay_ns, (size_t)size};
  queue->tail += sizeof *header + ((size_t)size + 15) / 16 * 16;
  return true;
}

// xorshift32 (Marsaglia, 2003).
static uint32_t random_number(void) {
  static uint32_t state = 2463534242;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static void hand_out(int to, struct queue *queue) {
  for (;;) {
    struct header *header = oldest(queue);
    if (header == NULL || header->due_ns > now_ns()) return;
    // A packet that does not fit into the other end's queue is lost, as on any link.
    ssize_t taken = write(to, header + 1, header->size);
    (void)taken;
    queue->head += sizeof *header + (header->size + 15) / 16 * 16;
  }
}

static struct header *oldest(struct queue *queue) {
  if (queue->head == queue->tail) return NULL;
  struct header *header = (struct header *)(queue->bytes + queue->head);
  if (header->size > 0) return header;
  queue->head = 0;
  return queue->head == queue->tail ? NULL : (struct header *)queue->bytes;
}

static struct timespec time_until_due(struct queue *queues) {
  int64_t due_ns = now_ns() + S_NS;
  for (int side = 0; side < 2; side++) {
    struct header *header = oldest(&queues[side]);
    if (header != NULL && header->due_ns < due_ns) due_ns = header->due_ns;
  }
  int64_t left_ns = due_ns - now_ns();
  if (left_ns < 0) left_ns = 0;
  return (struct timespec){.tv_sec = left_ns / S_NS, .tv_nsec = left_ns % S_NS};
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * S_NS + now.tv_nsec;
}
