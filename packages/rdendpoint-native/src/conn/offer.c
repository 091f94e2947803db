// SPDX-License-Identifier: Apache-2.0
#include "conn/offer.h"

#include "base/protocol_version.h"
#include "conn/connection.h"

#include <string.h>
#include <sys/sysinfo.h>

static unsigned lanes_for(const struct rd_hello_params *offer, const struct rd_transport *transport);
static bool grant_window(const struct rd_hello_params *offer, const struct rd_transport *transport,
                         struct rd_hello *hello, struct rd_error *error);
static enum rd_protection wanted_protection(enum rd_encrypt encrypt, const struct rd_transport *transport);
static bool is_local(const char *peer);

bool rd_hello_params_hello(const struct rd_hello_params *offer, const struct rd_transport *transport, uint32_t epoch,
                           struct rd_hello *hello, struct rd_error *error) {
  bool sends = offer->role == RD_ROLE_SENDER;
  *hello = (struct rd_hello){
      .version = RD_PROTOCOL_VERSION,
      .wants = wanted_protection(offer->encrypt, transport),
      .features = RD_FEATURE_ZSTD,
      .lanes = lanes_for(offer, transport),
      .lacks_aes = !rd_cpu_has_aes(),
      .prefers_poly1305 = rd_cpu_prefers_poly1305(),
      .compresses = sends && offer->compress_level > 0,
      .epoch = epoch,
  };
  return sends || grant_window(offer, transport, hello, error);
}

// Over a long path one lane waits for acknowledgements, and for each lost packet.
static unsigned lanes_for(const struct rd_hello_params *offer, const struct rd_transport *transport) {
  unsigned most = transport->ops->lanes_most(transport);
  if (offer->lanes > 0) return offer->lanes < most ? offer->lanes : most;
  bool is_long =
      transport->ops->rtt_us(transport) >= RD_LONG_PATH_US && !is_local(transport->ops->peer_name(transport));
  struct sysinfo machine;
  if (!is_long || sysinfo(&machine) != 0) return 1;
  unsigned fitting = rd_window_lanes_in((uint64_t)machine.totalram * machine.mem_unit, offer->buffer_bytes);
  return fitting < most ? fitting : most;
}

// Later connections keep the window of the first one.
static bool grant_window(const struct rd_hello_params *offer, const struct rd_transport *transport,
                         struct rd_hello *hello, struct rd_error *error) {
  bool small = hello->wants == RD_PROTECTION_SEAL || offer->compress_level > 0 || offer->chain;
  size_t buffer_bytes = rd_window_buffer_bytes(offer->buffer_bytes, hello->lanes);
  struct rd_window window = hello->lanes > 1 ? rd_window_for_lanes(buffer_bytes) : rd_window_of(buffer_bytes, small);
  if (offer->window.slots > 0) window = offer->window;
  bool fits = rd_window_fit(&window, rd_connection_window_most_bytes(transport), error);
  hello->slots = window.slots;
  hello->slot_bytes = window.slot_bytes;
  hello->small_slots = transport->ops->is_stream && hello->lanes == 1 ? RD_SMALL_SLOTS : 0;
  return fits;
}

static enum rd_protection wanted_protection(enum rd_encrypt encrypt, const struct rd_transport *transport) {
  switch (encrypt) {
  case RD_ENCRYPT_NEVER:
    return RD_PROTECTION_NONE;
  case RD_ENCRYPT_AUTH:
    return RD_PROTECTION_MAC;
  case RD_ENCRYPT_AUTO:
    if (is_local(transport->ops->peer_name(transport))) return RD_PROTECTION_NONE;
    break;
  case RD_ENCRYPT_TCP:
    break;
  case RD_ENCRYPT_ALWAYS:
    return RD_PROTECTION_SEAL;
  }
  return rd_transport_is_rdma(transport) ? RD_PROTECTION_MAC : RD_PROTECTION_SEAL;
}

static bool is_local(const char *peer) {
  static const char *const here[] = {"127.", "[::1]:", "[::ffff:127.", "/", "a local socket"};
  for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
    if (strncmp(peer, here[i], strlen(here[i])) == 0) return true;
  return false;
}
