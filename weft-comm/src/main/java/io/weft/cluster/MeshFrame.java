// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.weft.text.Printable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// The mesh's own messages (docs/protocol/mesh.md). Pure.
sealed interface MeshFrame {

  /// Bytes before the texts of a LOST.
  int HEADER_BYTES = 12;

  /// The length of a message without fields, in bytes.
  int BARE_BYTES = 8;

  /// Maximum length of both texts of a LOST together, in bytes.
  int MAX_TEXT_BYTES = 4096;

  /// The sender leaves the job in an orderly way.
  record Goodbye() implements MeshFrame {
    static final int CODE = 0;
  }

  /// The sender is alive.
  record Heartbeat() implements MeshFrame {
    static final int CODE = 1;
  }

  /// The job continues without a rank.
  ///
  /// @param rank the lost rank; the receiver itself, if it has been given up
  /// @param witness the rank that noticed the loss
  /// @param why the reason, in words
  /// @param where the operations in which the witness waited, in words; empty = none
  record Lost(int rank, int witness, String why, String where) implements MeshFrame {
    static final int CODE = 2;

    /// Returns whether both are ranks of a job of this size.
    boolean isWithin(int size) {
      return rank >= 0 && rank < size && witness >= 0 && witness < size;
    }

    Lost waitingIn(String operations) {
      return new Lost(rank, witness, why, operations);
    }
  }

  /// The sender accepts the connection that carries this message, which the receiver has made.
  record Connected() implements MeshFrame {
    static final int CODE = 3;
  }

  /// The sender joins the running job. This is the first message on its connection.
  ///
  /// @param member the sender
  record Join(Member member) implements MeshFrame {
    static final int CODE = 4;
  }

  /// The sender accepts the connection of a joining rank.
  ///
  /// @param gone the ranks that have left or are lost
  record Welcome(BitSet gone) implements MeshFrame {
    static final int CODE = 5;
  }

  /// Returns whether a message, of any length, belongs to the mesh itself.
  static boolean isOne(MemorySegment message) {
    return message.byteSize() > 0 && message.get(JAVA_BYTE, 0) == ServiceIds.MESH;
  }

  /// Decodes a message. Returns null if it is malformed.
  static @Nullable MeshFrame read(MemorySegment message) {
    int code = message.byteSize() < BARE_BYTES ? -1 : message.get(JAVA_BYTE, 1);
    boolean bare = message.byteSize() == BARE_BYTES;
    return switch (code) {
      case Goodbye.CODE -> bare ? new Goodbye() : null;
      case Heartbeat.CODE -> bare ? new Heartbeat() : null;
      case Lost.CODE -> lost(message);
      case Connected.CODE -> bare ? new Connected() : null;
      case Join.CODE -> JoinFrame.join(message);
      case Welcome.CODE -> JoinFrame.welcome(message);
      default -> null;
    };
  }

  private static @Nullable MeshFrame lost(MemorySegment message) {
    long bytes = message.byteSize() - HEADER_BYTES;
    if (bytes < 0 || bytes > MAX_TEXT_BYTES) {
      return null;
    }
    String text =
        new String(message.asSlice(HEADER_BYTES).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
    int end = text.indexOf('\n');
    return new Lost(
        message.get(JAVA_INT_UNALIGNED, 4),
        message.get(JAVA_INT_UNALIGNED, 8),
        Printable.of(end < 0 ? text : text.substring(0, end)),
        Printable.of(end < 0 ? "" : text.substring(end + 1)));
  }

  /// Encodes this message into newly allocated memory.
  default MemorySegment encode() {
    return switch (this) {
      case Goodbye _ -> frame(Goodbye.CODE, BARE_BYTES);
      case Heartbeat _ -> frame(Heartbeat.CODE, BARE_BYTES);
      case Connected _ -> frame(Connected.CODE, BARE_BYTES);
      case Lost lost -> encode(lost);
      case Join join -> JoinFrame.encode(join);
      case Welcome welcome -> JoinFrame.encode(welcome);
    };
  }

  private static MemorySegment encode(Lost lost) {
    String text = Printable.of(lost.why) + "\n" + Printable.of(lost.where);
    byte[] texts = text.getBytes(StandardCharsets.UTF_8);
    texts = Arrays.copyOf(texts, Math.min(texts.length, MAX_TEXT_BYTES));
    MemorySegment frame = frame(Lost.CODE, HEADER_BYTES + texts.length);
    frame.set(JAVA_INT_UNALIGNED, 4, lost.rank);
    frame.set(JAVA_INT_UNALIGNED, 8, lost.witness);
    MemorySegment.copy(texts, 0, frame, JAVA_BYTE, HEADER_BYTES, texts.length);
    return frame;
  }

  /// Allocates a zeroed message of this length and sets its code.
  static MemorySegment frame(int code, int bytes) {
    MemorySegment frame = Arena.ofAuto().allocate(bytes, 8);
    frame.set(JAVA_BYTE, 0, ServiceIds.MESH);
    frame.set(JAVA_BYTE, 1, (byte) code);
    return frame;
  }
}
