// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.memory.UserMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
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
  /// for payloads and places that others cannot reach: in the heap, in an arena that is closed or
  /// confined to one thread, and for a place that is read-only.
  public Request {
    RequestChannel.checkKind(kind);
    Objects.requireNonNull(head, "head");
    Objects.requireNonNull(payload, "payload");
    Objects.requireNonNull(limit, "limit");
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
    checkMemory(payload, into);
  }

  private static void checkMemory(MemorySegment payload, @Nullable MemorySegment into) {
    UserMemory.checkReadable("the payload of a request", payload);
    if (into != null) {
      UserMemory.checkWritable("the place that a request offers", into);
    }
  }

  /// Throws `IllegalArgumentException` where its memory was taken away since it was made.
  void checkMemory() {
    checkMemory(payload, into);
  }

  /// Without a place for what is replied.
  public static Request of(int kind, MemorySegment head, MemorySegment payload, Duration limit) {
    return new Request(kind, head, payload, null, limit);
  }
}
