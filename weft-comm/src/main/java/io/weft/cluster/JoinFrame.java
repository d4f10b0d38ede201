// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.text.Printable;
import io.weft.transport.Address;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The encoding of JOIN and WELCOME (docs/protocol/mesh.md): the facts that a rank that joins a
/// running job sends, and the answer to it. Little-endian. Pure.
final class JoinFrame {

  /// Maximum number of ranks of a job, including those that are gone or joined later.
  static final int MOST_RANKS = 1 << 14;

  /// Bytes before the text of a JOIN.
  private static final int JOIN_HEADER_BYTES = 16;

  /// Bytes before the set of a WELCOME.
  private static final int WELCOME_HEADER_BYTES = 8;

  private static final int MOST_TEXT_BYTES = 4096;
  private static final int MOST_HOST_CHARACTERS = 255;
  private static final int LINES = 3;

  private JoinFrame() {}

  /// Returns whether the facts about a rank fit a JOIN.
  static boolean fits(Member member) {
    return text(member).length <= MOST_TEXT_BYTES && member.host().length() <= MOST_HOST_CHARACTERS;
  }

  static MemorySegment encode(MeshFrame.Join join) {
    Member member = join.member();
    byte[] text = text(member);
    MemorySegment frame = MeshFrame.frame(MeshFrame.Join.CODE, JOIN_HEADER_BYTES + text.length);
    frame.set(JAVA_INT_UNALIGNED, 4, member.rank());
    frame.set(JAVA_INT_UNALIGNED, 8, member.localRank());
    frame.set(JAVA_INT_UNALIGNED, 12, member.crossRank());
    MemorySegment.copy(text, 0, frame, JAVA_BYTE, JOIN_HEADER_BYTES, text.length);
    return frame;
  }

  private static byte[] text(Member member) {
    var lines =
        new ArrayList<>(List.of(member.host(), member.process(), member.processors().list()));
    member.addresses().forEach(address -> lines.add(address.toString()));
    lines.replaceAll(Printable::of);
    return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
  }

  /// Decodes a JOIN. Returns null if it is malformed.
  static MeshFrame.@Nullable Join join(MemorySegment message) {
    long bytes = message.byteSize() - JOIN_HEADER_BYTES;
    if (bytes < 0 || bytes > MOST_TEXT_BYTES) {
      return null;
    }
    int rank = message.get(JAVA_INT_UNALIGNED, 4);
    int localRank = message.get(JAVA_INT_UNALIGNED, 8);
    int crossRank = message.get(JAVA_INT_UNALIGNED, 12);
    byte[] text = message.asSlice(JOIN_HEADER_BYTES).toArray(JAVA_BYTE);
    List<String> lines = List.of(new String(text, StandardCharsets.UTF_8).split("\n", -1));
    boolean possible =
        rank > 0
            && rank < MOST_RANKS
            && localRank >= 0
            && localRank <= rank
            && crossRank >= 0
            && crossRank <= rank
            && lines.size() > LINES
            && !lines.getFirst().isEmpty()
            && lines.getFirst().length() <= MOST_HOST_CHARACTERS
            && lines.stream().allMatch(line -> line.equals(Printable.of(line)));
    if (!possible) {
      return null;
    }
    try {
      return new MeshFrame.Join(
          new Member(
              rank,
              localRank,
              crossRank,
              lines.get(0),
              lines.get(1),
              new Processors(lines.get(2)),
              lines.stream().skip(LINES).map(Address::parse).toList()));
    } catch (IllegalArgumentException malformed) {
      return null;
    }
  }

  static MemorySegment encode(MeshFrame.Welcome welcome) {
    long[] words = welcome.gone().toLongArray();
    int bytes = WELCOME_HEADER_BYTES + Long.BYTES * words.length;
    MemorySegment frame = MeshFrame.frame(MeshFrame.Welcome.CODE, bytes);
    frame.set(JAVA_INT_UNALIGNED, 4, words.length);
    for (int word = 0; word < words.length; word++) {
      frame.set(JAVA_LONG_UNALIGNED, WELCOME_HEADER_BYTES + (long) Long.BYTES * word, words[word]);
    }
    return frame;
  }

  /// Decodes a WELCOME. Returns null if it is malformed.
  static MeshFrame.@Nullable Welcome welcome(MemorySegment message) {
    int words = message.get(JAVA_INT_UNALIGNED, 4);
    if (words < 0
        || words > MOST_RANKS / Long.SIZE
        || message.byteSize() != WELCOME_HEADER_BYTES + (long) Long.BYTES * words) {
      return null;
    }
    var gone = new long[words];
    for (int word = 0; word < words; word++) {
      gone[word] =
          message.get(JAVA_LONG_UNALIGNED, WELCOME_HEADER_BYTES + (long) Long.BYTES * word);
    }
    return new MeshFrame.Welcome(BitSet.valueOf(gone));
  }
}
