// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.channel;

import io.weft.memory.UserMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A request to a peer.
///
/// @param kind the kind of the peer's handler, 0 to `RequestChannel.MAX_KIND`
/// @param head copied; at most `RequestChannel.MAX_HEAD_BYTES`
/// @param payload borrowed until the outcome is delivered; a short one is sent in the message, a
///   long one is read by the peer; empty = none
/// @param into the memory into which the peer may write a part of the reply, in addition to the
///   body; borrowed likewise; null = none
/// @param limit the longest duration of the request; time in which this rank does not poll does not
///   count
public record Request(
    int kind,
    MemorySegment head,
    MemorySegment payload,
    @Nullable MemorySegment into,
    Duration limit) {

  /// Throws `IllegalArgumentException` for a kind out of range, for a head that is too long, for
  /// `payload` or `into` in the heap or in an arena that is closed or confined to one thread, and
  /// for a read-only `into`.
  public Request {
    RequestChannel.checkKind(kind);
    Objects.requireNonNull(head, "head");
    Objects.requireNonNull(payload, "payload");
    Objects.requireNonNull(limit, "limit");
    if (head.byteSize() > RequestChannel.MAX_HEAD_BYTES) {
      throw new IllegalArgumentException(
          "a head of "
              + head.byteSize()
              + " bytes; the maximum is "
              + RequestChannel.MAX_HEAD_BYTES
              + "; send longer data as a payload");
    }
    checkNative("the payload of a request", payload);
    if (into != null) {
      checkNative("the place that a request offers", into);
    }
    checkMemory(payload, into);
  }

  private static void checkNative(String what, MemorySegment memory) {
    if (!memory.isNative()) {
      throw new IllegalArgumentException(
          what + " is in the heap, which no peer can read or write; put it into native memory");
    }
  }

  private static void checkMemory(MemorySegment payload, @Nullable MemorySegment into) {
    UserMemory.checkReadable("the payload of a request", payload);
    if (into != null) {
      UserMemory.checkWritable("the place that a request offers", into);
    }
  }

  /// Throws `IllegalArgumentException` if memory of the request has been closed since its creation.
  void checkMemory() {
    checkMemory(payload, into);
  }

  /// Creates a request without `into`.
  public static Request of(int kind, MemorySegment head, MemorySegment payload, Duration limit) {
    return new Request(kind, head, payload, null, limit);
  }
}
