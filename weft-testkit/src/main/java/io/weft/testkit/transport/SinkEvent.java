// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Endpoint;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// What a sink heard.
sealed interface SinkEvent {

  /// Whom it was about.
  Endpoint endpoint();

  /// Usable.
  record Connected(Endpoint endpoint) implements SinkEvent {}

  /// A message; a copy of it.
  record Received(Endpoint endpoint, MemorySegment message) implements SinkEvent {

    byte[] bytes() {
      return message.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  /// A write has landed.
  record Notified(Endpoint endpoint, int immediate) implements SinkEvent {}

  /// Dead.
  record Failed(Endpoint endpoint, TransportException cause) implements SinkEvent {}
}
