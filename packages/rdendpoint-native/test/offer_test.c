// SPDX-License-Identifier: Apache-2.0
// The window that a receiver grants in its HELLO: large for plain frames, small in a chain or with a codec.
#include "conn/offer.h"

#include "memory_transport.h"
#include "test.h"

#define BUFFER_BYTES (8u << 20)

static struct rd_transport *transport;

static void check_grant(struct rd_hello_params offer, uint32_t slots, uint32_t slot_bytes) {
  struct rd_error error;
  struct rd_hello hello;
  offer.role = RD_ROLE_RECEIVER;
  offer.buffer_bytes = BUFFER_BYTES;
  REQUIRE(rd_hello_params_hello(&offer, transport, 1, &hello, &error));
  CHECK(hello.slots == slots && hello.slot_bytes == slot_bytes);
}

static void test_windows(void) {
  check_grant((struct rd_hello_params){.encrypt = RD_ENCRYPT_NEVER}, 8, 1u << 20);
  check_grant((struct rd_hello_params){.encrypt = RD_ENCRYPT_AUTH}, 8, 1u << 20);
  check_grant((struct rd_hello_params){.encrypt = RD_ENCRYPT_ALWAYS}, 32, 256u << 10);
  check_grant((struct rd_hello_params){.encrypt = RD_ENCRYPT_NEVER, .compress_level = 1}, 32, 256u << 10);
  check_grant((struct rd_hello_params){.encrypt = RD_ENCRYPT_NEVER, .chain = true}, 32, 256u << 10);
}

// All connections have the window of the first one.
static void test_later_connections(void) {
  struct rd_window first = {.slots = 5, .slot_bytes = 4096};
  check_grant((struct rd_hello_params){.encrypt = RD_ENCRYPT_NEVER, .chain = true, .window = first}, 5, 4096);
}

int main(void) {
  struct rd_error error;
  struct rd_transport *ends[2];
  REQUIRE(rd_mem_pair(NULL, ends, &error));
  transport = ends[0];
  test_windows();
  test_later_connections();
  rd_transport_destroy(ends[0]);
  rd_transport_destroy(ends[1]);
  return test_end("offer");
}
