// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import java.lang.foreign.MemorySegment;

/// A request of a peer. Only the sender's rank in it is verified. It ends with the first call of
/// `reply` or `fail`, on any thread; a further call throws `IllegalStateException`.
public interface IncomingRequest {

  /// The authenticated rank of the sender.
  int fromRank();

  /// The head, valid until the request has ended.
  MemorySegment head();

  /// The payload, valid until the request has ended, when its memory returns to the channel's pool.
  MemorySegment payload();

  /// The number of bytes that the reply may write into the peer's memory; 0 if the peer offers
  /// none.
  long intoBytes();

  /// Replies with a message.
  ///
  /// @param body copied; at most `RequestChannel.MAX_HEAD_BYTES`, otherwise
  ///   `IllegalArgumentException`
  void reply(MemorySegment body);

  /// Writes into the memory that the peer offers, then replies.
  ///
  /// @param written native memory of at most `intoBytes` bytes, in an arena that is open and not
  ///   confined to one thread, otherwise `IllegalArgumentException`; borrowed until `release` is
  ///   called, which happens once, on the progress thread
  void reply(MemorySegment body, MemorySegment written, Runnable release);

  /// Fails the peer's request with this text.
  void fail(String why);
}
