// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.Availability;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks allreduce of private tensors among ranks that share memory. The tensors pass through
/// bounce buffers in one part or in several, or not at all if the pool has no room.
@Timeout(120)
class LongPrivateTensorsTest {

  @TempDir private Path directory;

  @ParameterizedTest(name = "{0} ranks, pool of {1} MiB, segments {2}")
  @CsvSource({
    "2, 64, 512K x 4",
    "3, 64, 512K x 4",
    "2, 1, 2M x 4",
    "3, 4, 2M x 4",
    "2, 64, 4K x 1",
    "3, 64, 8K x 2",
    "4, 64, 64K x 3",
  })
  void longPrivateTensorsAreSummed(int size, int poolMib, String segments) throws IOException {
    assumeThat(MortalJob.provider("shm").probe()).isInstanceOf(Availability.Available.class);
    Path rules = directory.resolve("rules.txt");
    Files.writeString(rules, "mapped | private | " + segments + " | for this test");
    WeftConfig config =
        WeftConfig.builder()
            .transport("shm")
            .poolBytes((long) poolMib << 20)
            .algorithms(rules)
            .build();
    try (LocalJob job = LocalJob.start(size, config)) {
      job.run(
          weft -> {
            for (int elements : List.of(1_300_001, 70_001, 2_600_017, 300_000)) {
              sum(weft, elements);
            }
            return true;
          });
    }
  }

  private static void sum(Weft weft, int elements) throws Exception {
    try (OwnedTensor input = OwnedTensor.allocate(DType.INT32, Shape.of(elements));
        TensorLease output =
            weft.rank() == 1
                ? weft.allocate(DType.INT32, Shape.of(elements))
                : OwnedTensor.allocate(DType.INT32, Shape.of(elements))) {
      MemorySegment in = input.view().data();
      MemorySegment out = output.view().data();
      for (int i = 0; i < elements; i++) {
        in.setAtIndex(ValueLayout.JAVA_INT, i, (weft.rank() + 1) * i);
      }
      weft.communicator().allreduce(input.view(), output.view(), ReduceOp.SUM, named("g")).await();
      int all = weft.size() * (weft.size() + 1) / 2;
      for (int i = 0; i < elements; i++) {
        if (out.getAtIndex(ValueLayout.JAVA_INT, i) != all * i
            || in.getAtIndex(ValueLayout.JAVA_INT, i) != (weft.rank() + 1) * i) {
          throw new AssertionError("element " + i + " of " + elements + " is wrong");
        }
      }
    }
  }
}
