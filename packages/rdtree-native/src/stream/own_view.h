// SPDX-License-Identifier: Apache-2.0
// The stream for several targets as one of them sees it: with the records that are for it alone.
#ifndef RD_TREE_OWN_VIEW_H
#define RD_TREE_OWN_VIEW_H

#include "stream/record.h"

// All but `rank` begins as zeros.
struct rd_own_view {
  unsigned rank;
  enum rd_want want; // of the record that comes next, from WANTS
  bool has_place, has_entries;
  bool is_other_file; // the DATA that comes is of a file that others want
};

// *is_own: the record is for this target; its `want` is set to that of this target. False (RD_CODE_DATA_DAMAGED): the
// stream gives this target what may not come, such as a second PLACE.
bool rd_own_view_take(struct rd_own_view *view, struct rd_record *record, bool *is_own, struct rd_error *error);

#endif
