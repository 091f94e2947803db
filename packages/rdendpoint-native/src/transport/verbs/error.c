// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/error.h"

void rd_verbs_completion_failed(const struct rd_verbs_library *verbs, const struct ibv_wc *completion, const char *peer,
                                struct rd_error *error) {
  switch (completion->status) {
  case IBV_WC_WR_FLUSH_ERR:
    rd_error_set(error, RD_CODE_PEER_CLOSED, "the connection to %s ended", peer);
    break;
  case IBV_WC_RETRY_EXC_ERR:
    rd_error_set(error, RD_CODE_PEER_LOST, "%s no longer answers", peer);
    break;
  case IBV_WC_RNR_RETRY_EXC_ERR: // flow control prevents it
    rd_error_set(error, RD_CODE_INTERNAL, "%s had no receive buffer for a message (a bug in rdpipe, please report it)",
                 peer);
    break;
  case IBV_WC_LOC_LEN_ERR:
  case IBV_WC_REM_INV_REQ_ERR:
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "a message from or to %s was too long", peer);
    break;
  default:
    rd_error_set(error, RD_CODE_PEER_LOST, "the connection to %s failed: %s", peer,
                 verbs->ibv_wc_status_str(completion->status));
  }
}

bool rd_verbs_event_ends(const struct rd_verbs_event *event, const char *peer, struct rd_error *error) {
  switch (event->type) {
  case RDMA_CM_EVENT_DISCONNECTED:
    rd_error_set(error, RD_CODE_PEER_CLOSED, "%s closed the connection", peer);
    return true;
  case RDMA_CM_EVENT_DEVICE_REMOVAL:
    rd_error_set(error, RD_CODE_PEER_LOST, "the RDMA device of the connection to %s was removed", peer);
    return true;
  case RDMA_CM_EVENT_CONNECT_ERROR:
  case RDMA_CM_EVENT_UNREACHABLE:
  case RDMA_CM_EVENT_REJECTED:
    rd_error_set(error, RD_CODE_PEER_LOST, "%s gave up the connection", peer);
    return true;
  default: // an address that moves to another port of a bond, the end of the time-wait state
    return false;
  }
}
