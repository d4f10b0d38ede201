// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import java.lang.foreign.MemorySegment;

/// A request of a peer. Nothing in it is trusted but who has sent it. Ends with the first call of
/// `reply` or `fail`, on any thread; what follows throws `IllegalStateException`.
public interface IncomingRequest {

  /// Who asks, proved.
  int fromRank();

  /// Valid until it has ended.
  MemorySegment head();

  /// Valid until it has ended, when its memory goes back to the channel's pool.
  MemorySegment payload();

  /// How much may be written to the peer; 0 where it offers no place.
  long intoBytes();

  /// Replies by a message.
  ///
  /// @param body copied; at most `RequestChannel.MAX_HEAD_BYTES`, else `IllegalArgumentException`
  void reply(MemorySegment body);

  /// Writes to the place that the peer offers, and replies then.
  ///
  /// @param written native, at most `intoBytes`, in an arena that is open and not confined to one
  ///   thread, else `IllegalArgumentException`; borrowed until `release` is called, which happens
  ///   once, on the progress thread
  void reply(MemorySegment body, MemorySegment written, Runnable release);

  /// The peer's request fails with this text.
  void fail(String why);
}
