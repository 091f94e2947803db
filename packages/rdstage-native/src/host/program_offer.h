// SPDX-License-Identifier: Apache-2.0
// Offers programs of this host by TCP to other hosts of a run that lack them.
//
// A host that sends the token gets the contents of the files, one after the other. Nothing is encrypted: anyone may
// read the programs, and the receiving host compares them with the digests that it has from rdpipe over ssh. The token
// only keeps others from using the port.
#ifndef RD_STAGE_PROGRAM_OFFER_H
#define RD_STAGE_PROGRAM_OFFER_H

#include "base/error.h"

#include <stdint.h>

// Hexadecimal digits, followed by a newline.
#define RD_PROGRAM_OFFER_TOKEN_CHARACTERS 32

struct rd_program_offer {
  const char *nonce;            // of the line that tells the port
  uint16_t low_port, high_port; // to listen on; 0: any
  int idle_ms;                  // without a client for so long, it ends, even if its session does not
  char **files;                 // paths, NULL at the end
};

// Prints `rdpipe NONCE offering PORT`, reads the token from standard input, and serves until standard input ends, no
// client comes for `idle_ms`, or SIGTERM, SIGINT or SIGHUP arrives. Returns false (RD_CODE_SOURCE_UNREADABLE,
// RD_CODE_CANNOT_CONNECT, RD_CODE_USAGE) if a file cannot be read, no port is free, or there is no token.
bool rd_program_offer_run(const struct rd_program_offer *offer, struct rd_error *error);

#endif
