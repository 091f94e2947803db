// SPDX-License-Identifier: Apache-2.0
// A connection of a server: its relay, and the agent once the client is authenticated.
#ifndef RD_SERVE_CLIENT_SESSION_H
#define RD_SERVE_CLIENT_SESSION_H

#include "base/address.h"
#include "serve/relay.h"

#include <sys/types.h>

#define RD_NETWORK_BYTES 8u

struct rd_client_session {
  struct rd_client_session *next;
  pid_t relay, agent; // 0: none, or already reaped
  int message_fd;     // to and from the relay
  int stream_fd;      // for the agent, until it is started; otherwise -1
  int64_t began_ms;
  bool is_session; // authenticated and admitted
  bool is_open;    // the client has named a path
  bool is_ending;  // the relay was killed
  char name[RD_CLIENT_NAME_BYTES];
  char peer[RD_SOCKET_ADDRESS_TEXT_BYTES];
  unsigned char network[RD_NETWORK_BYTES]; // of the peer: an IPv4 address, or the first 64 bits of an IPv6 address
  char ssh_connection[2 * RD_SOCKET_ADDRESS_TEXT_BYTES];
  enum rd_rights direction;
  char path[512];
  char refusal[512]; // why the agent refused what the client asked for; "": it did not
  uint64_t received, sent;
  int agent_status; // from waitpid()
};

// Starts the relay of an accepted socket, whose ownership it takes, even on failure. Returns NULL if the relay cannot
// be started. Free with rd_client_session_destroy() when both processes have ended.
struct rd_client_session *rd_client_session_create(int socket_fd, const struct rd_clients *clients,
                                                   struct rd_error *error);
void rd_client_session_destroy(struct rd_client_session *connection); // NULL-safe

// Starts the agent of the authenticated client, and lets the relay begin.
bool rd_client_session_admit(struct rd_client_session *connection, const struct rd_serve_options *options,
                             const struct rd_client_grant *place, struct rd_error *error);
// Lets the relay report `reason` to the client.
void rd_client_session_refuse(struct rd_client_session *connection, const char *reason);
// Kills the relay: the agent then sees the end of its input, and ends all processes of the session.
void rd_client_session_end(struct rd_client_session *connection);

#endif
