// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.Endpoint;
import io.weft.transport.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// An event of a sink.
sealed interface SinkEvent {

  /// Returns the endpoint of the event.
  Endpoint endpoint();

  /// The endpoint became usable.
  record Connected(Endpoint endpoint) implements SinkEvent {}

  /// A message arrived; `message` is a copy of it.
  record Received(Endpoint endpoint, MemorySegment message) implements SinkEvent {

    byte[] bytes() {
      return message.toArray(ValueLayout.JAVA_BYTE);
    }
  }

  /// A write landed.
  record Notified(Endpoint endpoint, int immediate) implements SinkEvent {}

  /// The endpoint failed.
  record Failed(Endpoint endpoint, TransportException cause) implements SinkEvent {}
}
