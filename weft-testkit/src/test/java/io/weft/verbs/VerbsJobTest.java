// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.testkit.job.LocalJob;
import io.weft.verbs.device.KernelCounts;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Jobs whose ranks talk by RDMA.
@Tag("rdma")
@Timeout(600)
class VerbsJobTest {

  // Inside of a message, through windows, and both out of the transport's memory.
  private static final int[] LENGTHS = {1, 1000, 70_001, 300_000};

  @ParameterizedTest(name = "{0} ranks")
  @ValueSource(ints = {2, 3})
  void allreduceSumsOverQueuePairsAndLeavesNothing(int size) throws Exception {
    String before = KernelCounts.now();
    WeftConfig config =
        WeftConfig.builder()
            .transport("verbs")
            .deadline(Duration.ofMinutes(3))
            .startDeadline(Duration.ofMinutes(3))
            .heartbeat(Duration.ZERO)
            .silenceLimit(Duration.ZERO)
            .build();
    try (LocalJob job = LocalJob.start(size, config)) {
      job.run(
          weft -> {
            assertThat(weft.transport()).isEqualTo("verbs");
            for (int elements : LENGTHS) {
              sum(weft, elements);
            }
            return true;
          });
    }
    assertThat(KernelCounts.now()).isEqualTo(before);
  }

  private static void sum(Weft weft, int elements) throws Exception {
    try (TensorLease input = OwnedTensor.allocate(DType.INT32, Shape.of(elements));
        TensorLease output = weft.allocate(DType.INT32, Shape.of(elements))) {
      MemorySegment in = input.view().data();
      MemorySegment out = output.view().data();
      for (int i = 0; i < elements; i++) {
        in.setAtIndex(ValueLayout.JAVA_INT, i, (weft.rank() + 1) * i);
      }
      weft.communicator().allreduce(input.view(), output.view(), ReduceOp.SUM, named("g")).await();
      int all = weft.size() * (weft.size() + 1) / 2;
      for (int i = 0; i < elements; i++) {
        if (out.getAtIndex(ValueLayout.JAVA_INT, i) != all * i) {
          throw new AssertionError(
              "element %d of %d is %d, expected %d"
                  .formatted(i, elements, out.getAtIndex(ValueLayout.JAVA_INT, i), all * i));
        }
      }
    }
  }
}
