// SPDX-License-Identifier: Apache-2.0
#include "hello.h"

#include "cleanup.h"
#include "io.h"
#include "memory.h"
#include "text.h"
#include "wire.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

static json_t *text_or_null(const char *text);
static json_t *boot_id(void);
static json_int_t network_namespace(void);
static const char *user_name(void);
static bool has_aes(void);

char *hello_line(const char *nonce, pid_t agent) {
  struct utsname system = {0};
  uname(&system);
  RD_AUTO_FREE char *hello = NULL;
  json_t *object =
      json_pack("{s:i,s:s,s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:i,s:o,s:b}", "v", (int)RD_PROTOCOL_VERSION, "version",
                RD_VERSION, "os", text_or_null(system.sysname), "cpu", text_or_null(system.machine), "boot_id",
                boot_id(), "net_ns", network_namespace(), "uid", (json_int_t)getuid(), "user",
                text_or_null(user_name()), "hostname", text_or_null(system.nodename), "pid", (int)agent,
                "ssh_connection", text_or_null(getenv("SSH_CONNECTION")), "aes", (int)has_aes());
  if (object) hello = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER);
  json_decref(object);
  if (!hello) abort(); // out of memory: see memory.h
  size_t bytes = strlen(nonce) + strlen(hello) + 32;
  char *line = memory_new(bytes, 1);
  snprintf(line, bytes, "rdstage/%u %s %s", RD_PROTOCOL_VERSION, nonce, hello);
  return line;
}

static json_t *text_or_null(const char *text) {
  if (!text) return json_null();
  RD_AUTO_FREE char *copy = memory_copy(text, strlen(text));
  rd_text_clean(copy, strlen(text));
  return json_string(copy);
}

static json_t *boot_id(void) {
  char text[64] = "";
  RD_AUTO_CLOSE int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0 || rd_read_some(fd, text, sizeof text - 1) < 0) *text = '\0';
  text[strcspn(text, "\n")] = '\0';
  return text_or_null(text);
}

static json_int_t network_namespace(void) {
  struct stat status;
  return stat("/proc/self/ns/net", &status) ? 0 : (json_int_t)status.st_ino;
}

// Not from the user database: a static program cannot ask it everywhere.
static const char *user_name(void) {
  const char *name = getenv("USER");
  if (!name || !*name) name = getenv("LOGNAME");
  return name ? name : "";
}

// Whether the CPU has AES instructions, without which another cipher is faster.
static bool has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("aes");
#elif defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
#else
  return false;
#endif
}
