// SPDX-License-Identifier: Apache-2.0
// The shell of a host simulated by the test process: connects its input and output to a unix socket.
// Small and static, because a thousand of them run at once.
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BLOCK = 16384 };

// Returns false at the end of the input, or if writing fails.
static bool pass(int from, int to) {
  char block[BLOCK];
  ssize_t count = read(from, block, sizeof block);
  for (ssize_t done = 0, part; done < count; done += part) {
    part = write(to, block + done, (size_t)(count - done));
    if (part < 0) return false;
  }
  return count > 0;
}

// unix-relay SOCKET HOST: first sends the host's name as a line.
int main(int count, char **words) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (count != 3 || strlen(words[1]) >= sizeof address.sun_path) return 2;
  memcpy(address.sun_path, words[1], strlen(words[1]));
  int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (socket_fd < 0 || connect(socket_fd, (struct sockaddr *)&address, sizeof address) != 0) return 1;
  size_t length = strlen(words[2]);
  words[2][length] = '\n';
  if (write(socket_fd, words[2], length + 1) < 0) return 1;
  struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = socket_fd, .events = POLLIN}};
  while (poll(ends, 2, -1) > 0) {
    if (ends[1].revents != 0 && !pass(socket_fd, STDOUT_FILENO)) return 0;
    if (ends[0].revents == 0 || pass(STDIN_FILENO, socket_fd)) continue;
    shutdown(socket_fd, SHUT_WR);
    ends[0].fd = -1;
  }
  return 0;
}
