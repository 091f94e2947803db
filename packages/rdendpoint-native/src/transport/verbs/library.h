// SPDX-License-Identifier: Apache-2.0
// librdmacm and libibverbs, opened when RDMA is first used: the program also runs without them.
#ifndef RD_TRANSPORT_VERBS_LIBRARY_H
#define RD_TRANSPORT_VERBS_LIBRARY_H

#include "base/error.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

// The header's macro would call another function than the one that is looked up here.
#undef ibv_reg_mr

#define RD_RDMACM_FUNCTIONS(of)                                                                                        \
  of(rdma_accept) of(rdma_ack_cm_event) of(rdma_bind_addr) of(rdma_connect) of(rdma_create_event_channel)              \
      of(rdma_create_id) of(rdma_create_qp) of(rdma_destroy_event_channel) of(rdma_destroy_id) of(rdma_destroy_qp)     \
          of(rdma_disconnect) of(rdma_free_devices) of(rdma_get_cm_event) of(rdma_get_devices) of(rdma_get_src_port)   \
              of(rdma_listen) of(rdma_migrate_id) of(rdma_resolve_addr) of(rdma_resolve_route) of(rdma_set_option)

#define RD_IBVERBS_FUNCTIONS(of)                                                                                       \
  of(ibv_ack_cq_events) of(ibv_alloc_pd) of(ibv_create_comp_channel) of(ibv_create_cq) of(ibv_dealloc_pd)              \
      of(ibv_dereg_mr) of(ibv_destroy_comp_channel) of(ibv_destroy_cq) of(ibv_get_cq_event) of(ibv_get_device_name)    \
          of(ibv_query_device) of(ibv_reg_mr) of(ibv_wc_status_str)

// The functions, under their own names: verbs->rdma_create_id(…). Inline functions of the headers need no entry.
struct rd_verbs_library {
#define RD_MEMBER(function) __typeof__(function) *function;
  RD_RDMACM_FUNCTIONS(RD_MEMBER)
  RD_IBVERBS_FUNCTIONS(RD_MEMBER)
#undef RD_MEMBER
};

// Returns the libraries, opened by the first call and never closed. NULL (RD_CODE_CANNOT_CONNECT) if one is not
// installed or is too old.
const struct rd_verbs_library *rd_verbs_library(struct rd_error *error);

// Writes the command that installs the libraries, with the drivers of all devices, on this machine; for advice.
#define RD_VERBS_COMMAND_BYTES 192
void rd_verbs_library_install_command(char command[RD_VERBS_COMMAND_BYTES]);

#endif
