// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.cluster.ServiceIds;
import io.weft.cluster.elastic.Statement.Stage;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// The encoding of a statement in a message (docs/protocol/agreement.md). Little-endian: a header
/// of 24 bytes, then five sets of ranks of equal length. The header contains the length.
final class StatementFrame {

  private static final int HEADER_BYTES = 24;
  private static final int SETS = 5;

  /// Maximum number of ranks of a job, including those that are gone.
  private static final int MOST_RANKS = 1 << 14;

  static final int MOST_BYTES = HEADER_BYTES + SETS * MOST_RANKS / 8;

  /// Maximum number of epochs of a job; it keeps sums of epochs far from overflow.
  private static final long MOST_EPOCHS = 1L << 48;

  private StatementFrame() {}

  static int bytes(Statement statement) {
    return HEADER_BYTES + SETS * 8 * words(statement);
  }

  private static int words(Statement statement) {
    MembershipView view = statement.view();
    int ranks = Math.max(view.gone().length(), view.candidates().length());
    return (Math.max(ranks, statement.pledged().length()) + 63) / 64;
  }

  /// Encodes a statement. Returns the part of `into` that is the message.
  static MemorySegment write(MemorySegment into, Statement statement) {
    MembershipView view = statement.view();
    int words = words(statement);
    MemorySegment frame = into.asSlice(0, bytes(statement));
    frame.fill((byte) 0);
    frame.set(JAVA_BYTE, 0, ServiceIds.MEMBERSHIP);
    frame.set(JAVA_BYTE, 1, (byte) statement.stage().code());
    frame.set(JAVA_SHORT_UNALIGNED, 2, (short) words);
    frame.set(JAVA_LONG_UNALIGNED, 8, view.target());
    frame.set(JAVA_LONG_UNALIGNED, 16, view.base());
    write(frame, 0, words, view.gone());
    write(frame, 1, words, view.left());
    write(frame, 2, words, view.members());
    write(frame, 3, words, view.joining());
    write(frame, 4, words, statement.pledged());
    return frame;
  }

  private static void write(MemorySegment frame, int number, int words, BitSet set) {
    MemorySegment bytes = MemorySegment.ofArray(set.toByteArray());
    MemorySegment.copy(bytes, 0, frame, HEADER_BYTES + number * 8L * words, bytes.byteSize());
  }

  /// Decodes a statement. Returns null if the frame is not a statement of rank `from`.
  static @Nullable Statement read(MemorySegment frame, int from) {
    if (frame.byteSize() < HEADER_BYTES || frame.byteSize() > MOST_BYTES) {
      return null;
    }
    int code = frame.get(JAVA_BYTE, 1);
    int words = Short.toUnsignedInt(frame.get(JAVA_SHORT_UNALIGNED, 2));
    if (frame.byteSize() != HEADER_BYTES + SETS * 8L * words) {
      return null;
    }
    long target = frame.get(JAVA_LONG_UNALIGNED, 8);
    long base = frame.get(JAVA_LONG_UNALIGNED, 16);
    BitSet gone = set(frame, 0, words);
    BitSet left = set(frame, 1, words);
    BitSet members = set(frame, 2, words);
    BitSet joining = set(frame, 3, words);
    BitSet pledged = set(frame, 4, words);
    MembershipView view = new MembershipView(target, gone, left, base, members, joining);
    boolean sane =
        (code == Stage.PROPOSE.code() || code == Stage.COMMIT.code())
            && base >= 0
            && target > base
            && target <= MOST_EPOCHS
            && view.alive().get(from)
            && contains(gone, left)
            && !joining.intersects(members)
            && !pledged.intersects(members);
    Stage stage = code == Stage.PROPOSE.code() ? Stage.PROPOSE : Stage.COMMIT;
    return sane ? new Statement(stage, view, pledged) : null;
  }

  private static BitSet set(MemorySegment frame, int number, int words) {
    long bytes = 8L * words;
    return BitSet.valueOf(frame.asSlice(HEADER_BYTES + number * bytes, bytes).toArray(JAVA_BYTE));
  }

  private static boolean contains(BitSet whole, BitSet part) {
    BitSet outside = (BitSet) part.clone();
    outside.andNot(whole);
    return outside.isEmpty();
  }
}
