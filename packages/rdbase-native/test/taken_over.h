// SPDX-License-Identifier: Apache-2.0
// A program that was taken over: each attempt of a table is made by a process that gave up its rights as the program
// does, with the program's own function. The table says what each role may do, so a filter that is too wide fails too.
#ifndef RD_TEST_TAKEN_OVER_H
#define RD_TEST_TAKEN_OVER_H

#include <stddef.h>
#include <stdint.h>

// The columns of the table.
enum taken_over_role {
  ROLE_SEND,           // rdsend by hand, to an address
  ROLE_RECEIVE,        // rdrecv by hand, to standard output
  ROLE_RECEIVE_FILE,   // rdrecv by hand, to a file
  ROLE_AGENT_SEND,     // rdsend under the agent
  ROLE_AGENT_RECEIVE,  // rdrecv under the agent, to a file
  ROLE_FORWARD,        // rdforward to a port
  ROLE_FORWARD_SOCKET, // rdforward from a local socket to a local socket
  ROLE_CLOSED,         // rdgather, and the relay of a server
  ROLE_TREE_READ,      // rdtree: scan, read
  ROLE_TREE_CLEAN,     // rdtree: clean
  ROLE_TREE_UNITE,     // rdtree: unite
  ROLE_TREE_COMPARE,   // rdtree: compare
  ROLE_TREE_WRITE,     // rdtree: write, copy
  ROLE_SERVED_READ,    // rdtree: scan, read below the directory of a server
  ROLE_SERVED_WRITE    // rdtree: write below the directory of a server
};

struct taken_over_program {
  enum taken_over_role role;
  const char *name;
  void (*confine)(void);
};

// The files and ports that the programs were started for.
struct taken_over_places {
  char directory[64], file[80];        // its own
  char other_directory[64], other[80]; // of others
  uint16_t port, other_port;           // something listens on both
  char socket[80];                     // a local socket in its own directory, on which a stranger listens
};
extern struct taken_over_places taken_over_places;

// Makes every attempt in every role, and returns the exit status of the suite. With a second argument it prints a line
// for each attempt.
int taken_over_suite(const char *suite, const struct taken_over_program *programs, size_t count, int argc);

#endif
