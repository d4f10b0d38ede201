// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.verbs.device.Gid;
import io.weft.verbs.device.QueuePairAddress;
import io.weft.verbs.ring.VerbsFault;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// The messages of two ends over TCP before and during their use of queue pairs
/// (docs/protocol/verbs.md). They are little-endian; an invalid message causes a `VerbsFault`.
sealed interface VerbsGreeting {

  int MAGIC = 0x42524556;
  int VERSION = 3;
  int HEADER_BYTES = 8;
  int HELLO_BYTES = 72;
  int MAX_TEXT = 512;

  ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /// The addresses of the sender's queue pair and ring.
  ///
  /// @param incarnation of its transport
  /// @param queuePair address of the queue pair
  /// @param ringAddress of its receive ring
  /// @param ringKey permission to write there
  /// @param ringBytes length of the ring
  /// @param slots maximum number of frames in the ring
  record Hello(
      long incarnation,
      QueuePairAddress queuePair,
      long ringAddress,
      int ringKey,
      int ringBytes,
      int slots)
      implements VerbsGreeting {}

  /// The sender's result of connecting its queue pair.
  ///
  /// @param problem empty if it succeeded
  record Decision(String problem) implements VerbsGreeting {}

  /// The sender ends the connection because of the data it received.
  record GracefulClose(String reason) implements VerbsGreeting {}

  private static int kind(VerbsGreeting greeting) {
    return switch (greeting) {
      case Hello _ -> 1;
      case Decision _ -> 2;
      case GracefulClose _ -> 3;
    };
  }

  private static int number(Gid.GidType type) {
    return switch (type) {
      case INFINIBAND -> 0;
      case ROCE_V1 -> 1;
      case ROCE_V2 -> 2;
    };
  }

  default MemorySegment encode() {
    byte[] all =
        switch (this) {
          case Hello _ -> new byte[0];
          case Decision(String problem) -> problem.getBytes(StandardCharsets.US_ASCII);
          case GracefulClose(String reason) -> reason.getBytes(StandardCharsets.US_ASCII);
        };
    int length = Math.min(all.length, MAX_TEXT);
    int start = this instanceof Hello ? HELLO_BYTES : HEADER_BYTES;
    MemorySegment message = MemorySegment.ofArray(new byte[start + length]);
    message.set(INT, 0, MAGIC);
    message.set(ValueLayout.JAVA_BYTE, 4, (byte) VERSION);
    message.set(ValueLayout.JAVA_BYTE, 5, (byte) kind(this));
    if (this instanceof Hello hello) {
      QueuePairAddress pair = hello.queuePair();
      message.set(LONG, 8, hello.incarnation());
      message.set(LONG, 16, pair.gid().prefix());
      message.set(LONG, 24, pair.gid().suffix());
      message.set(LONG, 32, hello.ringAddress());
      message.set(INT, 40, hello.ringKey());
      message.set(INT, 44, hello.ringBytes());
      message.set(INT, 48, hello.slots());
      message.set(INT, 52, pair.number());
      message.set(INT, 56, pair.sequence());
      message.set(INT, 60, pair.lid());
      message.set(INT, 64, pair.mtu());
      message.set(INT, 68, number(pair.gid().type()));
    }
    MemorySegment.copy(all, 0, message, ValueLayout.JAVA_BYTE, start, length);
    return message;
  }

  static VerbsGreeting decode(MemorySegment message) throws VerbsFault {
    if (message.byteSize() < HEADER_BYTES || message.get(INT, 0) != MAGIC) {
      throw new VerbsFault("a message that is not a verbs greeting");
    }
    int version = message.get(ValueLayout.JAVA_BYTE, 4);
    int kind = message.get(ValueLayout.JAVA_BYTE, 5);
    if (version != VERSION) {
      throw new VerbsFault("a greeting of version " + version + " of verbs, this is " + VERSION);
    }
    return switch (kind) {
      case 1 -> hello(message);
      case 2 -> new Decision(text(message));
      case 3 -> new GracefulClose(text(message));
      default -> throw new VerbsFault("a greeting of unknown kind " + kind);
    };
  }

  private static Hello hello(MemorySegment message) throws VerbsFault {
    if (message.byteSize() != HELLO_BYTES) {
      throw new VerbsFault("a greeting of " + message.byteSize() + " bytes");
    }
    int type = message.get(INT, 68);
    int mtu = message.get(INT, 64);
    Gid.GidType[] types = Gid.GidType.values();
    if (type < 0 || type >= types.length || mtu < 1 || mtu > 5) {
      throw new VerbsFault("a greeting with address type " + type + " and MTU code " + mtu);
    }
    // The index refers to the peer's table and has no meaning here.
    Gid gid = new Gid(0, message.get(LONG, 16), message.get(LONG, 24), types[type]);
    return new Hello(
        message.get(LONG, 8),
        new QueuePairAddress(
            message.get(INT, 52),
            message.get(INT, 56) & 0xFFFFFF,
            message.get(INT, 60) & 0xFFFF,
            gid,
            mtu),
        message.get(LONG, 32),
        message.get(INT, 40),
        message.get(INT, 44),
        message.get(INT, 48));
  }

  private static String text(MemorySegment message) throws VerbsFault {
    long length = message.byteSize() - HEADER_BYTES;
    if (length > MAX_TEXT) {
      throw new VerbsFault("a greeting with a text of " + length + " bytes");
    }
    byte[] bytes = message.asSlice(HEADER_BYTES).toArray(ValueLayout.JAVA_BYTE);
    return new String(bytes, StandardCharsets.US_ASCII).replaceAll("[^ -~]", "?");
  }
}
