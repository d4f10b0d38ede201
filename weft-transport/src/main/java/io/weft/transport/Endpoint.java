// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The three verbs to one peer. Nothing is queued without bound: on `BACK_PRESSURED` the caller
/// keeps the work and tries again on a later duty cycle. Messages and write notifications arrive at
/// the peer in posting order, or the endpoint fails. Polling thread only.
public interface Endpoint extends AutoCloseable {

  /// The peer's node number, proved by the handshake.
  int node();

  /// Copies `message`, at most `Capabilities.maxMessageBytes`; it is reusable on return.
  @CheckReturnValue
  PostResult trySend(MemorySegment message);

  /// Fills `into` from the peer's memory. Completion: all bytes are in `into`. The peer's services
  /// take no part.
  @CheckReturnValue
  PostResult tryRead(Slice into, RemoteSlice from, Completion done);

  /// Writes `from` into the peer's memory. Completion: `from` is reusable; writes of one endpoint
  /// that succeed complete in posting order. Remote visibility: the peer's `onNotify(immediate)`,
  /// after which all bytes of this write can be seen there. A region that the peer has closed is
  /// not written and nobody is notified; the completion then says `Refused` or, where it came
  /// before the peer could refuse, success.
  @CheckReturnValue
  PostResult tryWrite(Slice from, RemoteSlice into, int immediate, Completion done);

  /// The peer's region as memory of this process; null where the two share none (another host,
  /// another user, memory that `Transport.allocate` did not give, a region that is closed, a
  /// transport that cannot). A region registered inside allocated memory is as good as the whole.
  /// The same region again costs a look-up.
  default @Nullable PeerMemory map(RemoteRegion region) {
    return null;
  }

  /// Bytes that the peer has sent here so far, payload and protocol, also those of a message or
  /// write that is not complete yet where the transport sees them: so it grows with every sign of
  /// life. Stays when the endpoint ends. Costs nothing.
  long bytesReceived();

  /// Bytes that have left for the peer so far, payload and protocol, in the same way; does not grow
  /// while the way to the peer is blocked.
  long bytesSent();

  /// Closes this end; posted work fails with `EndpointLost`; the sink is not told. A second call
  /// has no effect.
  @Override
  void close();
}
