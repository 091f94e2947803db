// SPDX-License-Identifier: Apache-2.0
#include "conn/rails.h"

#include "test.h"

static const struct rd_address A = {.host = "10.0.0.1", .port = 7}, B = {.host = "10.1.0.1", .port = 7},
                               C = {.host = "10.2.0.1", .port = 7}, A_OVER_RDMA = {.host = "10.0.0.1", .rdma = true};

static struct rd_rails rails;
static struct rd_address chosen[8];

static bool is(const struct rd_address *address, const struct rd_address *other) {
  return rd_address_is(address, other);
}

static void lanes_are_spread(void) {
  rd_rails_set(&rails, (const struct rd_address[]){A, A_OVER_RDMA, B, C}, 4);
  CHECK(rails.count == 4 && rd_rails_lanes(&rails) == 0);
  rd_rails_connected(&rails, &B);
  CHECK(rails.count == 3 && rd_rails_lanes(&rails) == 1);
  rd_rails_choose(&rails, chosen, 4);
  CHECK(is(&chosen[0], &A) && is(&chosen[1], &C) && is(&chosen[2], &A) && is(&chosen[3], &B));
  rd_rails_joined(&rails, &A);
  rd_rails_joined(&rails, &A);
  CHECK(rd_rails_lanes(&rails) == 3);
  rd_rails_choose(&rails, chosen, 2); // C did not answer
  CHECK(is(&chosen[0], &C) && is(&chosen[1], &B));
}

static void reconnecting(void) {
  struct rd_address turns[RD_RAILS_MAX];
  CHECK(rd_rails_in_turn(&rails, turns) == 3 && is(&turns[0], &B) && is(&turns[1], &C) && is(&turns[2], &A));
  rd_rails_connected(&rails, &A);
  CHECK(rd_rails_lanes(&rails) == 1 && rd_rails_in_turn(&rails, turns) == 3 && is(&turns[0], &A));
}

static void another_address(void) {
  struct rd_address turns[RD_RAILS_MAX];
  rd_rails_connected(&rails, &A_OVER_RDMA);
  CHECK(rd_rails_in_turn(&rails, turns) == 1 && is(&turns[0], &A_OVER_RDMA) && rd_rails_lanes(&rails) == 1);
  rd_rails_joined(&rails, &B);
  CHECK(rd_rails_lanes(&rails) == 1);
}

static void too_many(void) {
  enum { EACH = RD_RAILS_MAX + 1 };
  struct rd_address many[2 * EACH];
  for (unsigned i = 0; i < 2 * EACH; i++)
    many[i] = (struct rd_address){.host = "10.0.0.1", .port = (uint16_t)(i + 1), .rdma = i >= EACH};
  rd_rails_set(&rails, many, 2 * EACH);
  CHECK(rails.count == 2 * RD_RAILS_MAX);
  rd_rails_connected(&rails, &many[EACH]);
  CHECK(rails.count == RD_RAILS_MAX && rails.each[0].rdma);
}

int main(void) {
  lanes_are_spread();
  reconnecting();
  another_address();
  too_many();
  return test_end("rails");
}
