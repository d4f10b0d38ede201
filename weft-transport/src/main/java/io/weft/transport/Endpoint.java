// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A connection to one peer. Queues are bounded: on `BACK_PRESSURED` the caller keeps the work and
/// retries in a later duty cycle. Messages and write notifications arrive at the peer in posting
/// order, or the endpoint fails. Polling thread only.
public interface Endpoint extends AutoCloseable {

  /// Returns the peer's node number, which the handshake has authenticated.
  int node();

  /// Sends a copy of `message`, at most `Capabilities.maxMessageBytes`; the caller may reuse it on
  /// return.
  @CheckReturnValue
  PostResult trySend(MemorySegment message);

  /// Reads the peer's memory into `into`. On completion all bytes are in `into`. The peer's sink is
  /// not called.
  @CheckReturnValue
  PostResult tryRead(Slice into, RemoteSlice from, Completion done);

  /// Writes `from` into the peer's memory. On completion the caller may reuse `from`; successful
  /// writes of one endpoint complete in posting order. All bytes of this write are visible at the
  /// peer when its `onNotify(immediate)` is called. A write to a region that the peer has closed
  /// changes no memory and causes no notification. It then completes with `Refused`, or
  /// successfully if the completion fired before the peer could refuse.
  @CheckReturnValue
  PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done);

  /// Returns the peer's region as memory of this process. Returns null if the two processes cannot
  /// share it: the peer runs on another host or as another user, `Transport.allocate` did not
  /// allocate the memory, the region is closed, or the transport lacks the capability. A region
  /// registered inside allocated memory can also be mapped. Mapping a region again costs only a
  /// look-up.
  default @Nullable PeerMemory map(RemoteRegion region) {
    return null;
  }

  /// Returns the total bytes received from the peer, payload and protocol. They include bytes of
  /// incomplete messages and writes if the transport can observe them, so that the value grows with
  /// every sign of life. It remains after the endpoint has ended. The call is cheap.
  long bytesReceived();

  /// Returns the total bytes that have left for the peer, payload and protocol. The value does not
  /// grow while the path to the peer is blocked.
  long bytesSent();

  /// Closes this end: work that has not completed fails with `EndpointLost`, and the sink is not
  /// notified. A second call has no effect.
  @Override
  void close();
}
