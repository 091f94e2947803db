// SPDX-License-Identifier: Apache-2.0
#include "stream/own_view.h"

static bool take_place(struct rd_own_view *view, bool is_own, struct rd_error *error);
static bool take_entry(struct rd_own_view *view, struct rd_record *record, bool *is_own, struct rd_error *error);
static bool damaged(struct rd_error *error, const char *reason);

bool rd_own_view_take(struct rd_own_view *view, struct rd_record *record, bool *is_own, struct rd_error *error) {
  *is_own = view->want != RD_WANT_NOTHING;
  switch (record->type) {
  case RD_RECORD_WANTS:
    view->want = (enum rd_want)record->wants.at[view->rank];
    *is_own = false;
    return true;
  case RD_RECORD_XATTR:
  case RD_RECORD_BLOCKS:
    return true;
  case RD_RECORD_PLACE:
    return take_place(view, *is_own, error);
  case RD_RECORD_REMOVE:
    view->want = RD_WANT_ALL;
    return true;
  case RD_RECORD_DATA:
  case RD_RECORD_FILE_END:
    *is_own = !view->is_other_file;
    return true;
  default:
    *is_own = true;
    return !rd_record_is_entry(record->type) || take_entry(view, record, is_own, error);
  }
}

static bool take_place(struct rd_own_view *view, bool is_own, struct rd_error *error) {
  view->want = RD_WANT_ALL;
  if (!is_own) return true;
  if (view->has_place || view->has_entries) return damaged(error, "a target has two places");
  view->has_place = true;
  return true;
}

static bool take_entry(struct rd_own_view *view, struct rd_record *record, bool *is_own, struct rd_error *error) {
  enum rd_want want = view->want;
  bool is_directory = record->type == RD_RECORD_ENTER;
  view->want = RD_WANT_ALL;
  view->has_entries = true;
  if (want == RD_WANT_METADATA && !is_directory) return damaged(error, "a target wants a part of an entry");
  *is_own = is_directory || want != RD_WANT_NOTHING;
  view->is_other_file = !*is_own;
  if (is_directory && want != RD_WANT_ALL) record->entry.want = want;
  return true;
}

static bool damaged(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: %s", reason);
  return false;
}
