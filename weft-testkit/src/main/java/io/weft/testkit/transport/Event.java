// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Endpoint;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// What a sink heard.
sealed interface Event {

  /// Whom it was about.
  Endpoint endpoint();

  /// Usable.
  record Connected(Endpoint endpoint) implements Event {}

  /// A message; a copy of it.
  record Received(Endpoint endpoint, MemorySegment message) implements Event {

    byte[] bytes() {
      return message.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  /// A write has landed.
  record Notified(Endpoint endpoint, int immediate) implements Event {}

  /// Dead.
  record Failed(Endpoint endpoint, TransportException cause) implements Event {}
}
