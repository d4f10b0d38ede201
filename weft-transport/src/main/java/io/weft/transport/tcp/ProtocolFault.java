// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.IOException;
import java.io.Serial;

/// Signals invalid data from a peer; the connection is closed and the peer receives the message.
final class ProtocolFault extends IOException {

  @Serial private static final long serialVersionUID = 1L;

  ProtocolFault(String message) {
    super(message);
  }
}
