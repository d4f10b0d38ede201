// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// The messages of two ends over TCP before and during their use of shared memory
/// (docs/protocol/shm.md). They are little-endian; an invalid message causes a `ShmFault`.
sealed interface ShmGreeting {

  int MAGIC = 0x4D485357;
  int HEADER_BYTES = 8;
  int HELLO_BYTES = 40;
  int MAX_TEXT = 256;

  ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /// The location of the sender's memory.
  ///
  /// @param host the domain of its process number; empty if it cannot share memory
  /// @param process its number
  /// @param control descriptor of its control file
  /// @param link descriptor of the link file for this connection
  /// @param linkNumber a part of that file's name
  /// @param incarnation of its transport, a part of the names of all its files
  record Hello(String host, long process, int control, int link, int linkNumber, long incarnation)
      implements ShmGreeting {}

  /// The sender's result of mapping the other's memory.
  ///
  /// @param problem empty if it succeeded
  record Decision(String problem) implements ShmGreeting {}

  /// The sender ends the connection because of the data it received.
  record GracefulClose(String reason) implements ShmGreeting {}

  /// The sender has published frames in shared memory.
  record Wake() implements ShmGreeting {}

  private static int kind(ShmGreeting greeting) {
    return switch (greeting) {
      case Hello _ -> 1;
      case Decision _ -> 2;
      case GracefulClose _ -> 3;
      case Wake _ -> 4;
    };
  }

  default MemorySegment encode() {
    String text =
        switch (this) {
          case Hello hello -> hello.host();
          case Decision verdict -> verdict.problem();
          case GracefulClose gracefulClose -> gracefulClose.reason();
          case Wake _ -> "";
        };
    byte[] all = text.getBytes(StandardCharsets.US_ASCII);
    int length = Math.min(all.length, MAX_TEXT);
    int start = this instanceof Hello ? HELLO_BYTES : HEADER_BYTES;
    MemorySegment message = MemorySegment.ofArray(new byte[start + length]);
    message.set(INT, 0, MAGIC);
    message.set(ValueLayout.JAVA_BYTE, 4, (byte) ControlLayout.VERSION);
    message.set(ValueLayout.JAVA_BYTE, 5, (byte) kind(this));
    if (this instanceof Hello hello) {
      message.set(LONG, 8, hello.process());
      message.set(INT, 16, hello.control());
      message.set(INT, 20, hello.link());
      message.set(INT, 24, hello.linkNumber());
      message.set(LONG, 32, hello.incarnation());
    }
    MemorySegment.copy(all, 0, message, ValueLayout.JAVA_BYTE, start, length);
    return message;
  }

  static ShmGreeting decode(MemorySegment message) throws ShmFault {
    if (message.byteSize() < HEADER_BYTES || message.get(INT, 0) != MAGIC) {
      throw new ShmFault("a message that is not a shared-memory greeting");
    }
    int version = message.get(ValueLayout.JAVA_BYTE, 4);
    int kind = message.get(ValueLayout.JAVA_BYTE, 5);
    if (version != ControlLayout.VERSION) {
      throw new ShmFault(
          "a greeting of version "
              + version
              + " of shared memory, this is "
              + ControlLayout.VERSION);
    }
    return switch (kind) {
      case 1 -> hello(message);
      case 2 -> new Decision(text(message, HEADER_BYTES));
      case 3 -> new GracefulClose(text(message, HEADER_BYTES));
      case 4 -> new Wake();
      default -> throw new ShmFault("a greeting of unknown kind " + kind);
    };
  }

  private static Hello hello(MemorySegment message) throws ShmFault {
    if (message.byteSize() < HELLO_BYTES) {
      throw new ShmFault("a greeting of " + message.byteSize() + " bytes");
    }
    return new Hello(
        text(message, HELLO_BYTES),
        message.get(LONG, 8),
        message.get(INT, 16),
        message.get(INT, 20),
        message.get(INT, 24),
        message.get(LONG, 32));
  }

  private static String text(MemorySegment message, int start) throws ShmFault {
    long length = message.byteSize() - start;
    if (length > MAX_TEXT) {
      throw new ShmFault("a greeting with a text of " + length + " bytes");
    }
    byte[] bytes = message.asSlice(start).toArray(ValueLayout.JAVA_BYTE);
    return new String(bytes, StandardCharsets.US_ASCII).replaceAll("[^ -~]", "?");
  }
}
