// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.elastic.Statement.Stage;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// How a statement lies in a message (docs/protocol/agreement.md). Little-endian: 24 bytes, then
/// three sets of ranks of the same length.
final class StatementFrame {

  /// Service number of agreements, in the first byte of every message.
  static final byte SERVICE = 1;

  private static final int HEADER_BYTES = 24;

  /// No job lives through more epochs; keeps sums of epochs far from the end of the numbers.
  private static final long MOST_EPOCHS = 1L << 48;

  private StatementFrame() {}

  /// Length of a message in a job of this size.
  static int bytes(int size) {
    return HEADER_BYTES + 3 * setBytes(size);
  }

  private static int setBytes(int size) {
    return (size + 63) / 64 * 8;
  }

  static void write(MemorySegment frame, Statement statement, int size) {
    MembershipView view = statement.view();
    frame.fill((byte) 0);
    frame.set(JAVA_BYTE, 0, SERVICE);
    frame.set(JAVA_BYTE, 1, (byte) statement.stage().code());
    frame.set(JAVA_LONG_UNALIGNED, 8, view.target());
    frame.set(JAVA_LONG_UNALIGNED, 16, view.base());
    write(frame, HEADER_BYTES, view.gone());
    write(frame, HEADER_BYTES + setBytes(size), view.left());
    write(frame, HEADER_BYTES + 2 * setBytes(size), view.members());
  }

  private static void write(MemorySegment frame, int at, BitSet set) {
    MemorySegment words = MemorySegment.ofArray(set.toByteArray());
    MemorySegment.copy(words, 0, frame, at, words.byteSize());
  }

  /// Null if it is not the statement of rank `from` of a job of this size.
  static @Nullable Statement read(MemorySegment frame, int from, int size) {
    if (frame.byteSize() != bytes(size)) {
      return null;
    }
    int code = frame.get(JAVA_BYTE, 1);
    long target = frame.get(JAVA_LONG_UNALIGNED, 8);
    long base = frame.get(JAVA_LONG_UNALIGNED, 16);
    BitSet gone = set(frame, HEADER_BYTES, size);
    BitSet left = set(frame, HEADER_BYTES + setBytes(size), size);
    BitSet members = set(frame, HEADER_BYTES + 2 * setBytes(size), size);
    boolean sane =
        (code == Stage.PROPOSE.code() || code == Stage.COMMIT.code())
            && base >= 0
            && target > base
            && target <= MOST_EPOCHS
            && Math.max(gone.length(), members.length()) <= size
            && members.get(from)
            && !gone.get(from)
            && contains(gone, left);
    Stage stage = code == Stage.PROPOSE.code() ? Stage.PROPOSE : Stage.COMMIT;
    return sane
        ? new Statement(stage, new MembershipView(target, gone, left, base, members))
        : null;
  }

  private static BitSet set(MemorySegment frame, int at, int size) {
    return BitSet.valueOf(frame.asSlice(at, setBytes(size)).toArray(JAVA_BYTE));
  }

  private static boolean contains(BitSet whole, BitSet part) {
    BitSet outside = (BitSet) part.clone();
    outside.andNot(whole);
    return outside.isEmpty();
  }
}
