// SPDX-License-Identifier: Apache-2.0
// The state of a scan, and the records of one entry.
#ifndef RD_TREE_ENTRY_RECORDS_H
#define RD_TREE_ENTRY_RECORDS_H

#include "entry/owners.h"
#include "entry/source_dirs.h"
#include "entry/xattrs.h"
#include "pattern/pattern.h"
#include "report/events.h"
#include "scan/hard_links.h"
#include "setup/settings.h"
#include "stream/stream_writer.h"

#include <sys/stat.h>

struct rd_scan {
  const struct rd_tree_settings *settings;
  struct rd_stream_writer *writer;
  struct rd_source_dirs *directories; // at the directory whose entries are sent
  struct rd_patterns *patterns;
  struct rd_xattrs *xattrs;
  struct rd_owner_names *owners; // NULL: owners are not copied
  struct rd_hard_links *links;   // NULL: hard links are not kept
  struct rd_tree_totals totals;
  uint32_t source;           // its number
  uint64_t device;           // the file system of the source
  uint64_t specials_skipped; // without `archive`
  int64_t flushed_ms;
  unsigned char *path; // from the target directory, of a file with several names
};

// The metadata of an entry of the directory at hand; a name that is gone by now is none, and no failure. False: it
// cannot be read, which was sent, or is gone; *is_sent false: the copy cannot go on.
bool rd_send_status(struct rd_scan *scan, const char *name, struct statx *status, bool *is_sent,
                    struct rd_error *error);
bool rd_send_is_excluded(struct rd_scan *scan, const char *name, const struct statx *status);

// Any entry but a directory. False: the copy cannot go on; so for all of these.
bool rd_send_plain(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error);
// ENTER; the directory at hand is then this one. `name`: "." is that which has no name in the stream.
bool rd_send_enter(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error);
bool rd_send_leave(struct rd_scan *scan, bool is_whole, struct rd_error *error);
// A name that cannot be read: an event, and its record. `number`: errno, or 0.
bool rd_send_failed(struct rd_scan *scan, const char *name, int number, const char *text, struct rd_error *error);
// The directory at hand, which was entered, cannot be read.
void rd_send_unreadable(struct rd_scan *scan, int number);
// The content of the directory at hand is left out, for another reason.
void rd_send_refused(struct rd_scan *scan, const char *text);

#endif
