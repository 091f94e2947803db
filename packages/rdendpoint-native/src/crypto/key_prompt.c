// SPDX-License-Identifier: Apache-2.0
#include "crypto/key_prompt.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>

#define PROMPT "key: "
#define OFFERING_PROMPT "key (press Enter to generate one): "
#define INTERRUPT 3 // Ctrl-C, an ordinary character while the terminal does not echo

static bool read_line(int fd, bool may_be_empty, char *out, size_t out_bytes, struct rd_error *error);
static bool ask_terminal(bool offers, char *out, size_t out_bytes, struct rd_error *error);

bool rd_key_prompt(int key_fd, bool offers, char *out, size_t out_bytes, struct rd_error *error) {
  bool good =
      key_fd >= 0 ? read_line(key_fd, false, out, out_bytes, error) : ask_terminal(offers, out, out_bytes, error);
  if (!good) explicit_bzero(out, out_bytes);
  return good;
}

static bool read_line(int fd, bool may_be_empty, char *out, size_t out_bytes, struct rd_error *error) {
  for (size_t used = 0; used < out_bytes; used++) {
    ssize_t got = rd_read_some(fd, out + used, 1);
    if (got < 0 && errno == EAGAIN && rd_wait_fd(fd, POLLIN, -1) > 0) {
      used--;
      continue;
    }
    if (got < 0) {
      rd_error_set_errno(error, RD_CODE_USAGE, "cannot read the key from descriptor %d", fd);
      return false;
    }
    if (got > 0 && out[used] == INTERRUPT) break;
    if (got > 0 && out[used] != '\n') continue;
    out[used] = '\0';
    if (used > 0 || (may_be_empty && got > 0)) return true;
    break;
  }
  rd_error_set(error, RD_CODE_USAGE, "the key is empty or too long");
  return false;
}

static bool ask_terminal(bool offers, char *out, size_t out_bytes, struct rd_error *error) {
  RD_AUTO_CLOSE int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  struct termios before, silent;
  if (fd < 0 || tcgetattr(fd, &before) < 0) {
    rd_error_set(error, RD_CODE_USAGE, "there is no terminal to ask for the key (use --key-fd)");
    return false;
  }
  silent = before;
  silent.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
  tcsetattr(fd, TCSAFLUSH, &silent);
  const char *prompt = offers ? OFFERING_PROMPT : PROMPT;
  bool good = rd_write_all(fd, prompt, strlen(prompt)) && read_line(fd, offers, out, out_bytes, error);
  rd_write_all(fd, "\n", 1);
  tcsetattr(fd, TCSAFLUSH, &before);
  return good;
}
