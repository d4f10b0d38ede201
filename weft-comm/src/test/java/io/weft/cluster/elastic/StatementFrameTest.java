// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.elastic;

import static org.assertj.core.api.Assertions.assertThat;

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

  private static MemorySegment written(Statement statement, int size) {
    MemorySegment frame = Arena.ofAuto().allocate(StatementFrame.bytes(size));
    StatementFrame.write(frame, statement, size);
    return frame;
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 64, 65, 1024})
  void aStatementComesBackAsItWasSaid(int size) {
    for (Stage stage : Stage.values()) {
      MembershipView view =
          new MembershipView(7, set(0, 5, size - 1), set(5), 3, set(1, 2, 5, size - 2));
      Statement statement = new Statement(stage, view);
      MemorySegment frame = written(statement, size);
      assertThat(frame.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(StatementFrame.SERVICE);
      assertThat(StatementFrame.read(frame, 2, size)).isEqualTo(statement);
    }
  }

  @Test
  void whatNoRankSaysIsNull() {
    MembershipView view = new MembershipView(1, set(3), set(), 0, set(0, 1, 2, 3));
    MemorySegment good = written(new Statement(Stage.PROPOSE, view), 4);
    assertThat(StatementFrame.read(good, 1, 4)).isNotNull();
    assertThat(StatementFrame.read(good, 3, 4)).as("gone itself").isNull();
    assertThat(StatementFrame.read(good, 1, 65)).as("of a larger job").isNull();
    assertThat(StatementFrame.read(good.asSlice(0, 47), 1, 4)).as("cut").isNull();
    assertThat(StatementFrame.read(MemorySegment.NULL, 1, 4)).as("empty").isNull();
    MembershipView left = new MembershipView(1, set(3), set(2), 0, set(0, 1, 2, 3));
    assertThat(read(left, 4)).as("left and not gone").isNull();
    assertThat(read(new MembershipView(0, set(), set(), 0, set(1)), 4)).as("target 0").isNull();
    assertThat(read(new MembershipView(5, set(), set(), -1, set(1)), 4))
        .as("negative base")
        .isNull();
    assertThat(read(new MembershipView(1L << 60, set(), set(), 0, set(1)), 4))
        .as("far target")
        .isNull();
    assertThat(read(new MembershipView(1, set(), set(), 0, set(1, 9)), 4))
        .as("rank 9 of 4")
        .isNull();
  }

  private static Object read(MembershipView view, int size) {
    return StatementFrame.read(written(new Statement(Stage.COMMIT, view), size), 1, size);
  }

  @Test
  void anyBytesAreReadOrRefused() {
    Random random = new Random(5);
    byte[] bytes = new byte[StatementFrame.bytes(4)];
    for (int run = 0; run < 10_000; run++) {
      random.nextBytes(bytes);
      int length = random.nextInt(bytes.length + 1);
      MemorySegment frame = MemorySegment.ofArray(bytes).asSlice(0, length);
      Statement statement = StatementFrame.read(frame, 1, 4);
      if (statement != null) {
        assertThat(statement.view().gone().length()).isLessThanOrEqualTo(4);
      }
    }
  }
}
