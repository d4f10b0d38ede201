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

/// The layout of the messages between ranks of a collective (docs/protocol/collective.md).
/// Little-endian: a fixed header of 32 bytes, then the body.
public final class CollectiveFrame {

  /// Length of the header in bytes.
  public static final int HEADER_BYTES = 32;

  /// Longest text in a message, in bytes.
  static final int MAX_TEXT_BYTES = 4096;

  private CollectiveFrame() {}

  /// The types of messages.
  public enum Type {
    /// Carries the bytes of a chunk in the message itself.
    EAGER(1),
    /// Permits a peer to write: contains this rank's regions and its token.
    GRANT(2),
    /// Returns staging slots, or announces parts in a bounce buffer; `aux` is their count.
    CREDIT(3),
    /// Reports that ranks disagree; the text describes this rank's submission.
    MISMATCH(4),
    /// Aborts the communicator; the text gives the reason, `aux` is the culprit's world rank or -1.
    ABORT(5),
    /// Requests the receiver's progress with this operation.
    PROBE(6),
    /// Replies to a probe: `aux` is a code of `Progress`.
    PROBE_REPLY(7),
    /// Describes memory that peers may access in place, or states that it is private.
    SHARE(8),
    /// Reports this rank's progress with the others' memory, or that it no longer accesses it.
    DONE(9),
    /// Gives the location of this rank's mailbox; `aux` 0 means that it has none, or cannot reach a
    /// peer's.
    MAILBOX(10),
    /// Wakes a receiver that waits for a slot that was written. Carries no data.
    PUBLISHED(11),
    /// Reports that this rank's operation failed because the member `aux` has left the job.
    DESERTED(12),
    /// Reports that this rank has submitted the operation and waits for the receiver.
    ENTERED(13),
    /// Reports that this rank's operation failed for a local reason, which the text gives.
    BROKEN(14),
    /// Proposes names to forget; `aux` is the number of the proposal.
    FORGET(15),
    /// Replies with the proposed names that this rank would forget; `aux` is the number of the
    /// proposal.
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

  /// A rank's progress with an operation.
  public enum Progress {
    NOT_SUBMITTED(0),
    RUNNING(1),
    ACKNOWLEDGED(2),
    /// The rank has closed the communicator and keeps no state of it.
    CLOSED(3),
    /// The rank has not begun the operation because it must begin others first, or has reached its
    /// limit of operations in flight.
    BEHIND(4);

    private final int code;

    Progress(int code) {
      this.code = code;
    }

    public int code() {
      return code;
    }

    /// Returns null for an unknown code.
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

  /// Writes a header. `communicator` is the key of the group, `key` the key of the operation.
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

  /// Returns null if the message is too short or its type is unknown.
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

  /// Writes the text after the header, truncated to the longest text; returns the length of the
  /// message.
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
