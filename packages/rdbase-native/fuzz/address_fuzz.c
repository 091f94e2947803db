// SPDX-License-Identifier: Apache-2.0
// Addresses from the agent, from users and from a resolver: parsed into socket addresses and formatted as text.
#include "base/address.h"
#include "fuzz.h"

#include <netdb.h>
#include <string.h>

#define ENDPOINTS 4u
#define ANSWERS_MAX 8u

static void check_words(const struct rd_socket_address *socket_address);
static struct addrinfo *answer(struct fuzz_input *input);

static struct fuzz_input input;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input = (struct fuzz_input){data, size};
  uint16_t port = fuzz_u16(&input);
  const uint8_t *bytes;
  char host[300];
  size_t length = fuzz_take(&input, fuzz_u16(&input) % sizeof host, &bytes);
  if (length > 0) memcpy(host, bytes, length);
  host[length] = '\0';

  struct rd_socket_address endpoints[ENDPOINTS];
  struct rd_error error;
  size_t count = rd_socket_address_find(host, port, endpoints, ENDPOINTS, &error);
  FUZZ_REQUIRE(count <= ENDPOINTS);
  FUZZ_REQUIRE(count > 0 || error.code == RD_CODE_CANNOT_CONNECT);
  for (size_t i = 0; i < count; i++) check_words(&endpoints[i]);
  return 0;
}

static void check_words(const struct rd_socket_address *socket_address) {
  char words[RD_SOCKET_ADDRESS_TEXT_BYTES];
  struct rd_socket_address other = *socket_address;
  FUZZ_REQUIRE(socket_address->bytes <= sizeof socket_address->address);
  rd_socket_address_text(socket_address, words);
  FUZZ_REQUIRE(strnlen(words, sizeof words) < sizeof words);
  rd_socket_address_set_port(&other, 65535);
  rd_socket_address_text(&other, words);
}

// Replaces the C library's resolver: the rest of the input decides what it returns.
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **all) {
  (void)host, (void)service, (void)hints;
  struct addrinfo **last = all;
  unsigned answers = fuzz_u8(&input) % ANSWERS_MAX;
  *all = NULL;
  for (unsigned i = 0; i < answers; i++) {
    *last = answer(&input);
    last = &(*last)->ai_next;
  }
  return answers > 0 ? 0 : EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *all) {
  for (struct addrinfo *next; all != NULL; all = next) {
    next = all->ai_next;
    free(all->ai_addr);
    free(all);
  }
}

static struct addrinfo *answer(struct fuzz_input *from) {
  const uint8_t *bytes;
  struct addrinfo *made = calloc(1, sizeof *made);
  size_t address_bytes = fuzz_u8(from);
  FUZZ_REQUIRE(made != NULL);
  made->ai_addr = calloc(1, address_bytes + 1);
  FUZZ_REQUIRE(made->ai_addr != NULL);
  made->ai_addrlen = (socklen_t)address_bytes;
  size_t taken = fuzz_take(from, address_bytes, &bytes);
  if (taken > 0) memcpy(made->ai_addr, bytes, taken);
  return made;
}
