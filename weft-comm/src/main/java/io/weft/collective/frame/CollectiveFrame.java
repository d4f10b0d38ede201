// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.ServiceIds;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The messages between ranks of a collective: how their fields lie in a segment
/// (docs/protocol/collective.md). Little-endian; a fixed header of 32 bytes, then the body.
public final class CollectiveFrame {

  /// Bytes before the body.
  public static final int HEADER_BYTES = 32;

  /// Longest text in a message, in bytes.
  static final int MAX_TEXT_BYTES = 4096;

  private CollectiveFrame() {}

  /// What a message is.
  public enum Type {
    /// A chunk's bytes in the message itself.
    EAGER(1),
    /// Permission to write: the receiver's regions and its token.
    GRANT(2),
    /// Staging slots are free again, or parts stand in a bounce buffer; the count is in `aux`.
    CREDIT(3),
    /// Ranks disagree; the text says what this rank submitted.
    MISMATCH(4),
    /// The communicator is aborted; the text says why, `aux` is the culprit's world rank or -1.
    ABORT(5),
    /// Have you submitted this operation?
    PROBE(6),
    /// Answer: `aux` is a code of `Progress`.
    PROBE_REPLY(7),
    /// Memory on which peers may work where it lies, or that it is private.
    SHARE(8),
    /// How far this rank is with the others' memory, or that it no longer touches it.
    DONE(9),
    /// Where this rank's mailbox of slots lies; `aux` 0: it has none, or cannot reach another's.
    MAILBOX(10),
    /// A slot was written for which the receiver waits. Says nothing; it wakes.
    PUBLISHED(11),
    /// This rank's operation has failed because a member, `aux`, has left the job.
    DESERTED(12),
    /// This rank has submitted the operation, and waits for the receiver of this.
    ENTERED(13),
    /// This rank's operation has failed for a reason of its own, which the text says.
    BROKEN(14),
    /// Shall these names be forgotten? `aux` is the number of the question.
    FORGET(15),
    /// Which of them this rank would forget; `aux` is the same.
    KEPT(16);

    private static final @Nullable Type[] BY_CODE = new Type[17];

    static {
      for (Type type : values()) {
        BY_CODE[type.code] = type;
      }
    }

    private final byte code;

    Type(int code) {
      this.code = (byte) code;
    }
  }

  /// How far a rank is with an operation.
  public enum Progress {
    NOT_SUBMITTED(0),
    RUNNING(1),
    ACKNOWLEDGED(2),
    /// It has closed the communicator, and remembers nothing of it.
    CLOSED(3),
    /// It has not begun it, and has others to begin first, or as much under way as it may.
    BEHIND(4);

    private final int code;

    Progress(int code) {
      this.code = code;
    }

    public int code() {
      return code;
    }

    /// Null for a code that there is not.
    public static @Nullable Progress of(int code) {
      return switch (code) {
        case 0 -> NOT_SUBMITTED;
        case 1 -> RUNNING;
        case 2 -> ACKNOWLEDGED;
        case 3 -> CLOSED;
        case 4 -> BEHIND;
        default -> null;
      };
    }
  }

  /// `communicator` is the key of the group, `key` that of the operation.
  public static void header(
      MemorySegment frame,
      Type type,
      long communicator,
      int stageIndex,
      int signature,
      long key,
      int sequence,
      int aux) {
    frame.set(JAVA_BYTE, 0, ServiceIds.COLLECTIVES);
    frame.set(JAVA_BYTE, 1, type.code);
    frame.set(JAVA_BYTE, 2, (byte) stageIndex);
    frame.set(JAVA_BYTE, 3, (byte) 0);
    frame.set(JAVA_INT_UNALIGNED, 4, signature);
    frame.set(JAVA_LONG_UNALIGNED, 8, key);
    frame.set(JAVA_INT_UNALIGNED, 16, sequence);
    frame.set(JAVA_INT_UNALIGNED, 20, aux);
    frame.set(JAVA_LONG_UNALIGNED, 24, communicator);
  }

  /// Null if the message is too short or its type is unknown.
  public static @Nullable Type type(MemorySegment frame) {
    int code = frame.byteSize() < HEADER_BYTES ? 0 : frame.get(JAVA_BYTE, 1);
    return code > 0 && code < Type.BY_CODE.length ? Type.BY_CODE[code] : null;
  }

  public static int stageIndex(MemorySegment frame) {
    return frame.get(JAVA_BYTE, 2) & 0xff;
  }

  public static int signature(MemorySegment frame) {
    return frame.get(JAVA_INT_UNALIGNED, 4);
  }

  public static long key(MemorySegment frame) {
    return frame.get(JAVA_LONG_UNALIGNED, 8);
  }

  public static int sequence(MemorySegment frame) {
    return frame.get(JAVA_INT_UNALIGNED, 16);
  }

  public static int aux(MemorySegment frame) {
    return frame.get(JAVA_INT_UNALIGNED, 20);
  }

  public static long communicator(MemorySegment frame) {
    return frame.get(JAVA_LONG_UNALIGNED, 24);
  }

  public static MemorySegment body(MemorySegment frame) {
    return frame.asSlice(HEADER_BYTES);
  }

  public static void region(MemorySegment frame, long at, RemoteRegion region) {
    frame.set(JAVA_LONG_UNALIGNED, at, region.address());
    frame.set(JAVA_LONG_UNALIGNED, at + 8, region.bytes());
    frame.set(JAVA_INT_UNALIGNED, at + 16, region.key());
    frame.set(JAVA_LONG_UNALIGNED, at + 20, region.incarnation());
  }

  public static RemoteRegion region(MemorySegment frame, long at) {
    return new RemoteRegion(
        frame.get(JAVA_LONG_UNALIGNED, at),
        frame.get(JAVA_LONG_UNALIGNED, at + 8),
        frame.get(JAVA_INT_UNALIGNED, at + 16),
        frame.get(JAVA_LONG_UNALIGNED, at + 20));
  }

  /// Writes the text behind the header, cut to what fits; returns the length of the whole message.
  public static int text(MemorySegment frame, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, MAX_TEXT_BYTES);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, frame, HEADER_BYTES, length);
    return HEADER_BYTES + length;
  }

  public static String text(MemorySegment frame) {
    byte[] bytes = body(frame).toArray(JAVA_BYTE);
    return new String(
        bytes.length > MAX_TEXT_BYTES ? Arrays.copyOf(bytes, MAX_TEXT_BYTES) : bytes,
        StandardCharsets.UTF_8);
  }
}
