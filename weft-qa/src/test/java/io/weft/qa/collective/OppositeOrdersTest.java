// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two ranks that submit the same operations in opposite orders, and await none before the last.
@Timeout(240)
class OppositeOrdersTest {

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void manyEndWell(String transport) {
    int count = 20_000;
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(count))) {
              for (int i = 0; i < count; i++) {
                t.view().data().setAtIndex(ValueLayout.JAVA_INT, i, i);
              }
              List<Handle<TensorView>> handles = new ArrayList<>();
              CommException refused = submit(weft, t, Duration.ofSeconds(100), handles);
              assertThat(refused).isNull();
              for (Handle<TensorView> handle : handles) {
                var unused = handle.await();
              }
              for (int i = 0; i < count; i++) {
                assertThat(t.view().data().getAtIndex(ValueLayout.JAVA_INT, i)).isEqualTo(2 * i);
              }
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void tooManyAreRefusedInWords(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(40_000))) {
              List<Handle<TensorView>> handles = new ArrayList<>();
              CommException refused = submit(weft, t, Duration.ofSeconds(6), handles);
              if (refused != null) { // else the other rank has been refused, and has closed
                assertThat(refused)
                    .isInstanceOf(CommException.TimedOut.class)
                    .hasMessageContaining("rank " + weft.rank())
                    .hasMessageContaining("is refused: this rank has as many operations in flight")
                    .hasMessageContaining("16384")
                    .hasMessageContaining("orders differ");
              }
              weft.communicator().close();
              return refused != null;
            }
          });
    }
  }

  /// Rank 0 from the first to the last, rank 1 from the last to the first; until one is refused.
  private static @Nullable CommException submit(
      Weft weft, OwnedTensor t, Duration limit, List<Handle<TensorView>> handles) {
    int count = (int) t.view().shape().elements();
    for (int i = 0; i < count; i++) {
      int number = weft.rank() == 0 ? i : count - 1 - i;
      TensorView one = t.view().rows(number, 1);
      try {
        // Long enough for the first ones to wait until there is room for no more.
        Duration deadline = i < 16_000 ? Duration.ofSeconds(100) : limit;
        handles.add(
            weft.communicator()
                .allreduce(one, one, ReduceOp.SUM, named("g" + number).within(deadline)));
      } catch (CommException refused) {
        return refused;
      }
    }
    return null;
  }
}
