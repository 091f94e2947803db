// SPDX-License-Identifier: Apache-2.0
// Opens directories by their paths, one after another, and keeps some that are above the last one.
// For a deep tree, a walk from the top for each would take quadratic time.
#ifndef RD_TREE_OPEN_CHAIN_H
#define RD_TREE_OPEN_CHAIN_H

struct rd_open_chain; // opaque

// `top` stays the caller's. Never NULL.
struct rd_open_chain *rd_open_chain_create(int top);
void rd_open_chain_destroy(struct rd_open_chain *chain); // NULL-safe

// As rd_open_below(). Fast if paths that follow each other begin alike.
int rd_open_chain_next(struct rd_open_chain *chain, const char *path);

#endif
