// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.collective.CollectiveConfig;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks two ranks of a host that send each other segments of various lengths over TCP.
@Timeout(60)
class SegmentsWithinHostTest {

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

  @ParameterizedTest
  @ValueSource(strings = {"64K", "128K", "512K", "1M"})
  void sumsAreExactAtTheEdgesOfSegments(String segment) {
    try (LocalJob job = LocalJob.start(2, config(segment))) {
      for (int kib : new int[] {64, 128, 256, 512, 1024, 2048, 3000}) {
        for (String algorithm : List.of("nested-direct", "recursive-doubling", "ring")) {
          for (int more : new int[] {-1, 0, 1}) {
            long elements = (kib << 10) / LONG.byteSize() + more;
            var unused = job.run(weft -> sum(weft, elements, algorithm));
          }
        }
      }
    }
  }

  private static WeftConfig config(String segment) {
    return WeftConfig.builder()
        .transport("tcp")
        .set(CollectiveConfig.SEGMENT_BYTES, segment)
        .build();
  }

  private static OwnedTensor longs(long elements) {
    return OwnedTensor.allocate(DType.INT64, Shape.of(elements));
  }

  private static boolean sum(Weft weft, long elements, String algorithm) throws Exception {
    try (OwnedTensor input = longs(elements);
        OwnedTensor output = longs(elements)) {
      MemorySegment mine = input.view().data();
      for (long i = 0; i < elements; i++) {
        mine.setAtIndex(LONG, i, i * (1 + 2 * weft.rank()));
      }
      weft.communicator()
          .allreduce(input.view(), output.view(), ReduceOp.SUM, named("sum").by(algorithm))
          .await();
      MemorySegment all = output.view().data();
      for (long i = 0; i < elements; i++) {
        assertThat(all.getAtIndex(LONG, i)).isEqualTo(4 * i);
      }
      return true;
    }
  }
}
