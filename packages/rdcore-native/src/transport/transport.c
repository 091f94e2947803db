// SPDX-License-Identifier: Apache-2.0
#include "transport/transport.h"

void rd_transport_destroy(struct rd_transport *transport) {
  if (transport != NULL) transport->ops->destroy(transport);
}

void rd_connector_destroy(struct rd_connector *connector) {
  if (connector != NULL) connector->ops->destroy(connector);
}
