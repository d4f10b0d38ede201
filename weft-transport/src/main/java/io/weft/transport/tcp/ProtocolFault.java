// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import java.io.IOException;
import java.io.Serial;

/// What a peer sent cannot be obeyed; the connection ends and the peer is told the message.
final class ProtocolFault extends IOException {

  @Serial private static final long serialVersionUID = 1L;

  ProtocolFault(String message) {
    super(message);
  }
}
