// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.ServiceIds;
import io.weft.cluster.elastic.Statement.Stage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatementFrameTest {

  private static BitSet set(int... ranks) {
    BitSet set = new BitSet();
    IntStream.of(ranks).forEach(set::set);
    return set;
  }

  private static MemorySegment written(Statement statement) {
    return StatementFrame.write(Arena.ofAuto().allocate(StatementFrame.MOST_BYTES), statement);
  }

  private static MembershipView view(
      long target, BitSet gone, BitSet left, long base, BitSet members) {
    return new MembershipView(target, gone, left, base, members, set());
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 64, 65, 1024})
  void aDecodedStatementEqualsTheEncodedOne(int size) {
    for (Stage stage : Stage.values()) {
      MembershipView view =
          new MembershipView(
              7, set(0, 5, size - 1), set(5), 3, set(1, 2, 5, size - 2), set(size, size + 1));
      Statement statement = new Statement(stage, view, set(size));
      MemorySegment frame = written(statement);
      assertThat(frame.byteSize()).isEqualTo(StatementFrame.bytes(statement));
      assertThat(frame.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(ServiceIds.MEMBERSHIP);
      assertThat(StatementFrame.read(frame, 2)).isEqualTo(statement);
      assertThat(StatementFrame.read(frame, size)).as("of a joiner").isEqualTo(statement);
      assertThat(StatementFrame.read(frame, size + 2)).as("of a stranger").isNull();
    }
  }

  @Test
  void statementsThatNoRankCanSendAreNull() {
    MembershipView view = view(1, set(3), set(), 0, set(0, 1, 2, 3));
    MemorySegment good = written(new Statement(Stage.PROPOSE, view, set()));
    assertThat(StatementFrame.read(good, 1)).isNotNull();
    assertThat(StatementFrame.read(good, 3)).as("gone itself").isNull();
    assertThat(StatementFrame.read(good, 4)).as("no member").isNull();
    assertThat(StatementFrame.read(good.asSlice(0, 47), 1)).as("cut").isNull();
    assertThat(StatementFrame.read(MemorySegment.NULL, 1)).as("empty").isNull();
    assertThat(read(view(1, set(3), set(2), 0, set(0, 1, 2, 3)))).as("left, not gone").isNull();
    assertThat(read(view(0, set(), set(), 0, set(1)))).as("target 0").isNull();
    assertThat(read(view(5, set(), set(), -1, set(1)))).as("negative base").isNull();
    assertThat(read(view(1L << 60, set(), set(), 0, set(1)))).as("far target").isNull();
    MembershipView twice = new MembershipView(1, set(), set(), 0, set(0, 1), set(1, 2));
    assertThat(read(twice)).as("a member that joins").isNull();
    assertThat(StatementFrame.read(written(new Statement(Stage.COMMIT, view, set(2))), 1))
        .as("a member with which somebody will enter")
        .isNull();
  }

  private static Object read(MembershipView view) {
    return StatementFrame.read(written(new Statement(Stage.COMMIT, view, set())), 1);
  }

  @Test
  void randomBytesAreReadOrRefused() {
    Random random = new Random(5);
    byte[] bytes = new byte[24 + 5 * 8 * 2];
    for (int run = 0; run < 10_000; run++) {
      random.nextBytes(bytes);
      bytes[2] = (byte) random.nextInt(3);
      bytes[3] = 0;
      int length = random.nextInt(bytes.length + 1);
      MemorySegment frame = MemorySegment.ofArray(bytes).asSlice(0, length);
      Statement statement = StatementFrame.read(frame, 1);
      if (statement != null) {
        assertThat(statement.view().gone().length()).isLessThanOrEqualTo(128);
      }
    }
  }
}
