// SPDX-License-Identifier: Apache-2.0
// The state of a scan, and the records of one entry.
#ifndef RD_TREE_ENTRY_RECORDS_H
#define RD_TREE_ENTRY_RECORDS_H

#include "entry/owners.h"
#include "entry/source_dirs.h"
#include "entry/xattrs.h"
#include "pattern/pattern.h"
#include "report/events.h"
#include "scan/destination.h"
#include "scan/hard_links.h"
#include "scan/statuses.h"
#include "setup/settings.h"
#include "stream/stream_writer.h"

#include <sys/stat.h>

struct rd_scan {
  const struct rd_tree_settings *settings;
  struct rd_stream_writer *writer;
  struct rd_source_dirs *directories; // the current one is that whose entries are being sent
  struct rd_patterns *patterns;
  struct rd_xattrs *xattrs;
  struct rd_owner_names *owners; // NULL if owners are not copied
  struct rd_hard_links *links;   // NULL if hard links are not kept
  struct rd_statuses *statuses;
  struct rd_destination destination;
  struct rd_tree_totals totals;
  uint32_t source;           // number of the current source
  uint64_t device;           // file system of that source
  uint64_t specials_skipped; // skipped because `archive` is off
  int64_t flushed_ms;
  unsigned char *path; // buffer for the path of a file with several names, relative to the target directory
};

// Reads the metadata of an entry of the current directory. Returns false if the entry is gone, which is not a failure,
// or cannot be read, which is sent as a failure; *is_sent is then false if the copy cannot continue.
bool rd_send_status(struct rd_scan *scan, const char *name, struct statx *status, bool *is_sent,
                    struct rd_error *error);
// Sends the failure of an entry whose metadata cannot be read, with errno, unless it is gone.
bool rd_send_no_status(struct rd_scan *scan, const char *name, struct rd_error *error);
// Returns true if a pattern of the settings excludes the entry.
bool rd_send_is_excluded(struct rd_scan *scan, const char *name, const struct statx *status);

// Sends any entry other than a directory. Returns false if the copy cannot continue, as do the following functions.
bool rd_send_plain(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error);
// Sends ENTER, and makes this directory the current one. `name`: "." is sent as an empty name.
bool rd_send_enter(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error);
// Sends LEAVE. `is_whole`: every name of the directory was sent.
bool rd_send_leave(struct rd_scan *scan, bool is_whole, struct rd_error *error);
// Reports a name that cannot be read, as an event and as a record. `number`: errno, or 0.
bool rd_send_failed(struct rd_scan *scan, const char *name, int number, const char *text, struct rd_error *error);
// Reports that the current directory, which was entered, cannot be read.
void rd_send_unreadable(struct rd_scan *scan, int number);
// Reports that the content of the current directory is left out for another reason.
void rd_send_refused(struct rd_scan *scan, const char *text);

#endif
