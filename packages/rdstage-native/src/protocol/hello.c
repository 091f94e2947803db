// SPDX-License-Identifier: Apache-2.0
#include "protocol/hello.h"

#include "base/cleanup.h"
#include "base/memlock.h"
#include "base/memory.h"
#include "base/program_paths.h"
#include "base/protocol_version.h"
#include "base/sysfs.h"
#include "host/addresses.h"
#include "host/rdma_check.h"
#include "host/rdma_ports.h"
#include "runtime/json_made.h"
#include "sandbox/landlock.h"
#include "sandbox/syscall_filter.h"

#include <jansson.h>
#include <limits.h>
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

#define RDMA_CHECK_MS 5000 // the check takes a quarter of a second on an emulated host; if it takes longer, it hangs

static void add(json_t *facts, json_t *more);
static json_t *program_facts(pid_t agent);
static json_t *machine_facts(void);
static json_t *protection_facts(void);
static json_t *network_facts(int null_fd);
static json_t *rdma_lacks(const json_t *ports, int null_fd);
static json_t *boot_id(void);
static json_int_t network_namespace(void);
static const char *user_name(void);
static bool has_aes(void);

char *rd_hello_line(const char *nonce, pid_t agent, int null_fd) {
  json_t *facts = rd_json_made(json_object());
  add(facts, program_facts(agent));
  add(facts, machine_facts());
  add(facts, protection_facts());
  add(facts, network_facts(null_fd));
  RD_AUTO_FREE char *hello = json_dumps(facts, JSON_COMPACT | JSON_PRESERVE_ORDER);
  json_decref(facts);
  if (hello == NULL) abort(); // out of memory: see memory.h
  size_t bytes = strlen(nonce) + strlen(hello) + 32;
  char *line = rd_memory_new(bytes, 1);
  snprintf(line, bytes, "rdstage/%u %s %s", RD_PROTOCOL_VERSION, nonce, hello);
  return line;
}

char *rd_hello_damaged_line(const char *nonce) {
  struct utsname system = {0};
  uname(&system);
  size_t bytes = strlen(nonce) + sizeof system;
  char *line = rd_memory_new(bytes, 1);
  snprintf(line, bytes, "rdstage/%u %s missing %s %s damaged", RD_PROTOCOL_VERSION, nonce, system.sysname,
           system.machine);
  return line;
}

static void add(json_t *facts, json_t *more) {
  if (json_object_update(facts, more)) abort();
  json_decref(more);
}

static json_t *program_facts(pid_t agent) {
  return rd_json_made(json_pack("{s:i,s:s,s:I,s:o,s:i,s:o}", "v", (int)RD_PROTOCOL_VERSION, "version", RD_VERSION,
                                "uid", (json_int_t)getuid(), "user", rd_json_made_text(user_name()), "pid", (int)agent,
                                "ssh_connection", rd_json_made_text(getenv("SSH_CONNECTION"))));
}

static json_t *machine_facts(void) {
  struct utsname system = {0};
  uname(&system);
  return rd_json_made(json_pack("{s:o,s:o,s:o,s:o,s:b}", "os", rd_json_made_text(system.sysname), "cpu",
                                rd_json_made_text(system.machine), "boot_id", boot_id(), "hostname",
                                rd_json_made_text(system.nodename), "aes", (int)has_aes()));
}

// The parts of the kernel with which the programs give up rights.
static json_t *protection_facts(void) {
  return rd_json_made(
      json_pack("{s:b,s:i}", "seccomp", (int)rd_syscall_filter_is_possible(), "landlock", (int)rd_landlock_version()));
}

static json_t *network_facts(int null_fd) {
  int64_t memlock = rd_memlock_bytes();
  json_t *ports = rd_rdma_ports_json("/sys");
  json_t *lacks = rdma_lacks(ports, null_fd);
  return rd_json_made(json_pack("{s:I,s:o,s:o,s:o,s:o}", "net_ns", network_namespace(), "memlock",
                                memlock < 0 ? json_null() : json_integer(memlock), "rdma_lacks", lacks, "addresses",
                                rd_addresses_json(), "rdma", ports));
}

// Checks only if a port is active: other hosts should not wait for a program.
static json_t *rdma_lacks(const json_t *ports, int null_fd) {
  char program[PATH_MAX];
  struct rd_error why;
  if (!rd_rdma_ports_any_active(ports)) return json_null();
  bool usable = rd_program_paths_find("rdhop", program, sizeof program, &why) &&
                rd_rdma_check(program, null_fd, RDMA_CHECK_MS, &why);
  return usable ? json_null() : rd_json_made_text(why.message);
}

static json_t *boot_id(void) {
  char text[64];
  rd_sysfs_line(text, sizeof text, "/proc/sys/kernel/random/boot_id");
  return rd_json_made_text(text);
}

static json_int_t network_namespace(void) {
  struct stat status;
  return stat("/proc/self/ns/net", &status) ? 0 : (json_int_t)status.st_ino;
}

// Does not use the user database, which a static program cannot read everywhere.
static const char *user_name(void) {
  const char *name = getenv("USER");
  if (name == NULL || !*name) name = getenv("LOGNAME");
  return name != NULL ? name : "";
}

// Returns true if the CPU has AES instructions; without them another cipher is faster.
static bool has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("aes");
#elif defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
#else
  return false;
#endif
}
