// SPDX-License-Identifier: Apache-2.0
#include "base/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static bool read_path(const char *path, struct rd_socket_address *socket_address);
static bool read_ipv4(const char *host, uint16_t port, struct rd_socket_address *socket_address);
static bool read_ipv6(const char *host, uint16_t port, struct rd_socket_address *socket_address);
static bool read_zone(const char *zone, uint32_t *index);
static size_t look_up(const char *host, uint16_t port, struct rd_socket_address *addresses, size_t most,
                      struct rd_error *error);
static void ipv6_text(const struct sockaddr_in6 *address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]);

size_t rd_socket_address_find(const char *host, uint16_t port, struct rd_socket_address *addresses, size_t most,
                              struct rd_error *error) {
  if (port == 0 && host[0] == '/') {
    if (read_path(host, addresses)) return 1;
    rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%.300s: too long for a local socket", host);
    return 0;
  }
  if (read_ipv4(host, port, addresses) || read_ipv6(host, port, addresses)) return 1;
  return look_up(host, port, addresses, most, error);
}

bool rd_socket_address_is_known(const char *host) {
  struct rd_socket_address address;
  return host[0] == '/' || read_ipv4(host, 0, &address) || read_ipv6(host, 0, &address);
}

void rd_socket_address_set_port(struct rd_socket_address *socket_address, uint16_t port) {
  if (socket_address->address.ss_family == AF_INET)
    ((struct sockaddr_in *)(void *)&socket_address->address)->sin_port = htons(port);
  if (socket_address->address.ss_family == AF_INET6)
    ((struct sockaddr_in6 *)(void *)&socket_address->address)->sin6_port = htons(port);
}

void rd_socket_address_text(const struct rd_socket_address *socket_address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]) {
  const struct sockaddr_storage *address = &socket_address->address;
  char digits[INET_ADDRSTRLEN];
  if (socket_address->bytes > 0 && address->ss_family == AF_INET) {
    const struct sockaddr_in *ipv4 = (const void *)address;
    inet_ntop(AF_INET, &ipv4->sin_addr, digits, sizeof digits);
    snprintf(text, RD_SOCKET_ADDRESS_TEXT_BYTES, "%s:%u", digits, ntohs(ipv4->sin_port));
  } else if (socket_address->bytes > 0 && address->ss_family == AF_INET6) {
    ipv6_text((const void *)address, text);
  } else {
    const struct sockaddr_un *local = (const void *)address;
    bool named = socket_address->bytes > offsetof(struct sockaddr_un, sun_path) && local->sun_path[0] == '/';
    snprintf(text, RD_SOCKET_ADDRESS_TEXT_BYTES, "%.*s", (int)sizeof local->sun_path,
             named ? local->sun_path : "a local socket");
  }
}

static bool read_path(const char *path, struct rd_socket_address *socket_address) {
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof local.sun_path) return false;
  memcpy(local.sun_path, path, strlen(path) + 1);
  *socket_address = (struct rd_socket_address){.bytes = sizeof local};
  memcpy(&socket_address->address, &local, sizeof local);
  return true;
}

static bool read_ipv4(const char *host, uint16_t port, struct rd_socket_address *socket_address) {
  struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, host, &ipv4.sin_addr) != 1) return false;
  *socket_address = (struct rd_socket_address){.bytes = sizeof ipv4};
  memcpy(&socket_address->address, &ipv4, sizeof ipv4);
  return true;
}

static bool read_ipv6(const char *host, uint16_t port, struct rd_socket_address *socket_address) {
  struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  char digits[INET6_ADDRSTRLEN];
  size_t length = strcspn(host, "%");
  if (length >= sizeof digits) return false;
  memcpy(digits, host, length);
  digits[length] = '\0';
  if (inet_pton(AF_INET6, digits, &ipv6.sin6_addr) != 1) return false;
  if (host[length] == '%' && !read_zone(host + length + 1, &ipv6.sin6_scope_id)) return false;
  *socket_address = (struct rd_socket_address){.bytes = sizeof ipv6};
  memcpy(&socket_address->address, &ipv6, sizeof ipv6);
  return true;
}

// Parses an interface's name or number.
static bool read_zone(const char *zone, uint32_t *index) {
  *index = if_nametoindex(zone);
  if (*index != 0) return true;
  char *end;
  unsigned long number = strtoul(zone, &end, 10);
  *index = (uint32_t)number;
  return end != zone && *end == '\0' && number > 0 && number <= UINT32_MAX;
}

#ifdef RD_STATIC

static size_t look_up(const char *host, uint16_t port, struct rd_socket_address *addresses, size_t most,
                      struct rd_error *error) {
  (void)port, (void)addresses, (void)most;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s is not a numeric address (this build does not look up names)", host);
  return 0;
}

#else

static size_t look_up(const char *host, uint16_t port, struct rd_socket_address *addresses, size_t most,
                      struct rd_error *error) {
  const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  struct addrinfo *all = NULL;
  char service[8];
  size_t count = 0;
  snprintf(service, sizeof service, "%u", port);
  int failure = getaddrinfo(host, service, &hints, &all);
  if (failure != 0) {
    rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s: %s", host, gai_strerror(failure));
    return 0;
  }
  for (const struct addrinfo *one = all; one != NULL && count < most; one = one->ai_next) {
    if (one->ai_addrlen > sizeof addresses->address) continue;
    addresses[count] = (struct rd_socket_address){.bytes = one->ai_addrlen};
    memcpy(&addresses[count++].address, one->ai_addr, one->ai_addrlen);
  }
  freeaddrinfo(all);
  if (count == 0) rd_error_set(error, RD_CODE_CANNOT_CONNECT, "%s has no address to connect to", host);
  return count;
}

#endif

static void ipv6_text(const struct sockaddr_in6 *address, char text[RD_SOCKET_ADDRESS_TEXT_BYTES]) {
  char digits[INET6_ADDRSTRLEN], zone[IF_NAMESIZE + 1] = "";
  unsigned port = ntohs(address->sin6_port);
  if (IN6_IS_ADDR_V4MAPPED(&address->sin6_addr)) {
    inet_ntop(AF_INET, address->sin6_addr.s6_addr + 12, digits, sizeof digits);
    snprintf(text, RD_SOCKET_ADDRESS_TEXT_BYTES, "%s:%u", digits, port);
    return;
  }
  inet_ntop(AF_INET6, &address->sin6_addr, digits, sizeof digits);
  if (address->sin6_scope_id != 0) {
    zone[0] = '%';
    if (if_indextoname(address->sin6_scope_id, zone + 1) == NULL)
      snprintf(zone + 1, sizeof zone - 1, "%u", address->sin6_scope_id);
  }
  snprintf(text, RD_SOCKET_ADDRESS_TEXT_BYTES, "[%s%s]:%u", digits, zone, port);
}
