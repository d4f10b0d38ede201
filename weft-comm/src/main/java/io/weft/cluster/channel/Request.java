// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// What is asked of a peer.
///
/// @param kind which of the peer's handlers serves it, 0 to `RequestChannel.MAX_KIND`
/// @param head copied; at most `RequestChannel.MAX_HEAD_BYTES`
/// @param payload borrowed until the outcome is told: sent in the message where it is short, else
///   read by the peer; empty = none
/// @param into where the peer writes what it replies besides the body, borrowed as well; null =
///   nowhere
/// @param limit how long it may take, by the time in which this rank looked
public record Request(
    int kind,
    MemorySegment head,
    MemorySegment payload,
    @Nullable MemorySegment into,
    Duration limit) {

  /// Throws `IllegalArgumentException` for a kind that there is not, a head that is too long, and
  /// for long payloads and places in the heap, where no peer reads or writes.
  public Request {
    RequestChannel.checkKind(kind);
    if (head.byteSize() > RequestChannel.MAX_HEAD_BYTES) {
      throw new IllegalArgumentException(
          "a head of "
              + head.byteSize()
              + " bytes; the longest has "
              + RequestChannel.MAX_HEAD_BYTES
              + ", what is longer is a payload");
    }
    if (!payload.isNative() || (into != null && !into.isNative())) {
      throw new IllegalArgumentException(
          "a payload in the heap, which no peer can read or write; put it into native memory");
    }
  }

  /// Without a place for what is replied.
  public static Request of(int kind, MemorySegment head, MemorySegment payload, Duration limit) {
    return new Request(kind, head, payload, null, limit);
  }
}
