// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.schedule.RecursiveDoubling;
import io.weft.collective.schedule.Step;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TreeSumTest {

  private static final int ELEMENTS = 30;

  static IntStream members() {
    return IntStream.rangeClosed(2, 17);
  }

  @ParameterizedTest(name = "{0} members")
  @MethodSource("members")
  void theSumHasTheBitsOfRecursiveDoubling(int members) {
    SplittableRandom random = new SplittableRandom(members);
    List<MemorySegment> parts = new ArrayList<>();
    for (int m = 0; m < members; m++) {
      MemorySegment part = Arena.ofAuto().allocate(ELEMENTS * 4L, 4);
      for (int e = 0; e < ELEMENTS; e++) {
        part.setAtIndex(ValueLayout.JAVA_FLOAT, e, (float) random.nextDouble(-1e6, 1e6));
      }
      parts.add(part);
    }
    List<SharedMailbox> mailboxes = Mailboxes.of(members);
    for (int m = 0; m < members; m++) {
      SharedMailbox mailbox = mailboxes.get(m);
      assertThat(mailbox.tryWrite(mailbox.take(), 1, parts.get(m))).isTrue();
    }
    byte[] expected = byMessages(parts);
    for (int m = 0; m < members; m++) {
      MemorySegment output = m % 2 == 0 ? parts.get(m) : Arena.ofAuto().allocate(ELEMENTS * 4L, 4);
      new TreeSum(mailboxes.get(m))
          .combine(0, output, DType.FLOAT32, Kernels.reducer(DType.FLOAT32, ReduceOp.SUM), members);
      assertThat(output.toArray(ValueLayout.JAVA_BYTE)).as("rank %d", m).isEqualTo(expected);
    }
  }

  /// Returns the result of rank 0 by the schedule, computed by the kernels that define the bits.
  private static byte[] byMessages(List<MemorySegment> parts) {
    int size = parts.size();
    List<ArrayDeque<Step>> left = new ArrayList<>();
    List<MemorySegment> held = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      ArrayDeque<Step> steps = new ArrayDeque<>();
      RecursiveDoubling.onHosts(Collections.nCopies(size, 0))
          .schedule(rank, size)
          .forEach(steps::addAll);
      left.add(steps);
      held.add(Arena.ofAuto().allocate(ELEMENTS * 4L, 4).copyFrom(parts.get(rank)));
    }
    Map<List<Integer>, ArrayDeque<MemorySegment>> lines = new HashMap<>();
    while (left.stream().anyMatch(steps -> !steps.isEmpty())) {
      for (int rank = 0; rank < size; rank++) {
        while (!left.get(rank).isEmpty() && step(rank, left.get(rank).peek(), held, lines)) {
          left.get(rank).remove();
        }
      }
    }
    Kernels.divide(DType.FLOAT32, held.getFirst(), 0, ELEMENTS, size);
    return held.getFirst().toArray(ValueLayout.JAVA_BYTE);
  }

  /// Runs one step; returns false if the data that it receives has not arrived.
  private static boolean step(
      int rank,
      Step step,
      List<MemorySegment> held,
      Map<List<Integer>, ArrayDeque<MemorySegment>> lines) {
    MemorySegment own = held.get(rank);
    if (step instanceof Step.Send send) {
      MemorySegment copy = Arena.ofAuto().allocate(ELEMENTS * 4L, 4).copyFrom(own);
      lines.computeIfAbsent(List.of(rank, send.peer()), line -> new ArrayDeque<>()).add(copy);
      return true;
    }
    var line = lines.get(List.of(step.peer(), rank));
    MemorySegment got = line == null ? null : line.poll();
    if (got == null) {
      return false;
    }
    if (step instanceof Step.ReceiveReduce) {
      Kernels.reference(DType.FLOAT32, ReduceOp.SUM).reduce(own, 0, got, 0, ELEMENTS);
    } else {
      own.copyFrom(got);
    }
    return true;
  }
}
