// SPDX-License-Identifier: Apache-2.0
#include "sandbox/landlock.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// From linux/landlock.h, which older systems lack, or which lacks the later rights there. The numbers are the same on
// every architecture.
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ASK_VERSION 1u
#define RULE_OF_PATH 1
#define RULE_OF_PORT 2
#define BIND_TCP 1u
#define CONNECT_TCP 2u

#define EXECUTE (1u << 0)
#define WRITE_FILE (1u << 1)
#define READ_FILE (1u << 2)
#define READ_DIR (1u << 3)
#define REMOVE_DIR (1u << 4)
#define REMOVE_FILE (1u << 5)
#define MAKE_CHAR (1u << 6)
#define MAKE_DIR (1u << 7)
#define MAKE_REG (1u << 8)
#define MAKE_SOCK (1u << 9)
#define MAKE_FIFO (1u << 10)
#define MAKE_BLOCK (1u << 11)
#define MAKE_SYM (1u << 12)
#define REFER (1u << 13)
#define TRUNCATE (1u << 14)
#define IOCTL_DEV (1u << 15)
#define OF_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV) // the other rights are for directories
#define SCOPE_ABSTRACT_SOCKETS 1u
#define SCOPE_SIGNALS 2u

#define NEVER (EXECUTE | REMOVE_DIR | MAKE_CHAR | MAKE_DIR | MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM)
#define READ (READ_FILE | READ_DIR)
#define CHANGE (WRITE_FILE | REMOVE_FILE | MAKE_REG | REFER | TRUNCATE)

struct ruleset {
  uint64_t files, network, scopes;
};

struct rule {
  uint64_t rights;
  int32_t fd;
} __attribute__((packed));

struct port_rule {
  uint64_t rights, port;
};

struct grant {
  const char *path;
  uint64_t rights;
};

// Libraries that are opened on demand, the files of name resolution, and the kernel's files about this process.
static const struct grant grants[] = {
    {"/proc/self", READ},
    {"/dev/null", READ | WRITE_FILE},
#ifndef RD_STATIC
    {"/usr/lib", READ},
    {"/usr/lib64", READ},
    {"/usr/local/lib", READ},
    {"/lib", READ},
    {"/lib64", READ},
    {"/etc/ld.so.cache", READ},
    {"/etc/libibverbs.d", READ},
    {"/etc/rdma", READ},
    {"/etc/resolv.conf", READ},
    {"/run/systemd/resolve", READ},
    {"/etc/hosts", READ},
    {"/etc/host.conf", READ},
    {"/etc/nsswitch.conf", READ},
    {"/etc/gai.conf", READ},
    {"/etc/services", READ},
    {"/etc/protocols", READ},
    {"/dev/urandom", READ},
    {"/sys/class", READ},
    {"/sys/devices", READ},
#endif
};

static int make_ruleset(uint64_t files, uint64_t scopes, uint64_t *known);
static bool enforce(int ruleset_fd);
static void allow_port(int ruleset_fd, uint64_t rights, uint16_t port);
static void allow_library_path(int ruleset_fd, uint64_t known);
static void allow(int ruleset_fd, uint64_t known, const char *path, uint64_t rights);
static void allow_fd(int ruleset_fd, uint64_t known, int fd, uint64_t rights);

unsigned rd_landlock_version(void) {
  long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
  return version < 1 ? 0 : (unsigned)version;
}

bool rd_landlock_restrict_process(bool is_alone) {
  uint64_t known;
  RD_AUTO_CLOSE int ruleset_fd = make_ruleset(NEVER, SCOPE_ABSTRACT_SOCKETS | (is_alone ? SCOPE_SIGNALS : 0), &known);
  return ruleset_fd >= 0 && enforce(ruleset_fd);
}

bool rd_landlock_restrict_files(const struct rd_landlock *landlock) {
  uint64_t known;
  RD_AUTO_CLOSE int ruleset_fd = make_ruleset(READ | CHANGE | IOCTL_DEV, 0, &known);
  if (ruleset_fd < 0) return false;
  for (size_t i = 0; i < sizeof grants / sizeof *grants; i++)
    allow(ruleset_fd, known, grants[i].path, grants[i].rights);
  if (landlock->rdma) {
    allow(ruleset_fd, known, "/dev/infiniband", READ | WRITE_FILE | IOCTL_DEV);
    allow_library_path(ruleset_fd, known);
  }
  struct stat status;
  if (landlock->path != NULL && stat(landlock->path, &status) == 0 && S_ISFIFO(status.st_mode))
    allow(ruleset_fd, known, landlock->path, READ_FILE | WRITE_FILE);
  if (landlock->directory_fd >= 0) allow_fd(ruleset_fd, known, landlock->directory_fd, READ | CHANGE);
  for (size_t i = 0; i < landlock->remove_count; i++) allow_fd(ruleset_fd, known, landlock->remove_fds[i], REMOVE_FILE);
  return enforce(ruleset_fd);
}

bool rd_landlock_restrict_trees(const int *directory_fds, size_t count, enum rd_landlock_tree use) {
  static const uint64_t rights[] = {
      [RD_LANDLOCK_READ] = READ,
      [RD_LANDLOCK_REMOVE] = READ | REMOVE_FILE,
      [RD_LANDLOCK_CHANGE] = READ | CHANGE | REMOVE_DIR | MAKE_DIR | MAKE_SYM | MAKE_FIFO,
  };
  uint64_t known;
  RD_AUTO_CLOSE int ruleset_fd =
      make_ruleset(READ | CHANGE | NEVER | IOCTL_DEV, SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS, &known);
  if (ruleset_fd < 0) return false;
  const char *temporary = getenv("TMPDIR");
  allow(ruleset_fd, known, "/proc/self", READ);
  allow(ruleset_fd, known, "/dev/null", READ | WRITE_FILE);
  allow(ruleset_fd, known, "/etc/passwd", READ);
  allow(ruleset_fd, known, "/etc/group", READ);
  allow(ruleset_fd, known, temporary != NULL ? temporary : "/tmp", READ_FILE | CHANGE);
  for (size_t i = 0; i < count; i++) allow_fd(ruleset_fd, known, directory_fds[i], rights[use]);
  return enforce(ruleset_fd);
}

bool rd_landlock_restrict_ports(const struct rd_landlock_ports *ports) {
  if (rd_landlock_version() < 4) return false;
  struct ruleset ruleset = {.network = BIND_TCP | CONNECT_TCP};
  RD_AUTO_CLOSE int ruleset_fd = (int)syscall(CREATE_RULESET, &ruleset, offsetof(struct ruleset, scopes), 0);
  if (ruleset_fd < 0) return false;
  for (unsigned port = ports->low; ports->binds && port <= (ports->low == 0 ? 0u : ports->high); port++)
    allow_port(ruleset_fd, BIND_TCP, (uint16_t)port);
  for (size_t i = 0; i < ports->connect_count; i++) allow_port(ruleset_fd, CONNECT_TCP, ports->connect[i]);
  return enforce(ruleset_fd);
}

// Sets *known to those of the rights `files` that this kernel knows. Returns -1 if it has no Landlock.
static int make_ruleset(uint64_t files, uint64_t scopes, uint64_t *known) {
  unsigned version = rd_landlock_version();
  if (version == 0) return -1;
  uint64_t rights = IOCTL_DEV | (IOCTL_DEV - 1);
  if (version < 5) rights &= ~(uint64_t)IOCTL_DEV;
  if (version < 3) rights &= ~(uint64_t)TRUNCATE;
  if (version < 2) rights &= ~(uint64_t)REFER;
  *known = files & rights;
  struct ruleset ruleset = {.files = *known, .scopes = version >= 6 ? scopes : 0};
  size_t bytes = version >= 6 ? sizeof ruleset : sizeof ruleset.files;
  return (int)syscall(CREATE_RULESET, &ruleset, bytes, 0);
}

static bool enforce(int ruleset_fd) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(RESTRICT_SELF, ruleset_fd, 0) == 0;
}

static void allow_port(int ruleset_fd, uint64_t rights, uint16_t port) {
  struct port_rule rule = {rights, port};
  syscall(ADD_RULE, ruleset_fd, RULE_OF_PORT, &rule, 0);
}

// RDMA libraries may also be in the directories of LD_LIBRARY_PATH.
static void allow_library_path(int ruleset_fd, uint64_t known) {
  const char *all = getenv("LD_LIBRARY_PATH");
  RD_AUTO_FREE char *text = all != NULL ? strdup(all) : NULL;
  char *rest = NULL;
  for (char *one = text != NULL ? strtok_r(text, ":;", &rest) : NULL; one != NULL; one = strtok_r(NULL, ":;", &rest))
    allow(ruleset_fd, known, one, READ);
}

// A path that does not exist needs no rule.
static void allow(int ruleset_fd, uint64_t known, const char *path, uint64_t rights) {
  RD_AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd >= 0) allow_fd(ruleset_fd, known, fd, rights);
}

static void allow_fd(int ruleset_fd, uint64_t known, int fd, uint64_t rights) {
  struct stat status;
  if (fstat(fd, &status) < 0) return;
  struct rule rule = {.rights = rights & known & (S_ISDIR(status.st_mode) ? UINT64_MAX : OF_FILES), .fd = fd};
  syscall(ADD_RULE, ruleset_fd, RULE_OF_PATH, &rule, 0);
}
