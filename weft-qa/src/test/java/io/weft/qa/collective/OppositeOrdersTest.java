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

/// Checks two ranks that submit the same operations in opposite orders and await the first one
/// after they have submitted the last one.
@Timeout(240)
class OppositeOrdersTest {

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "shm"})
  void manyOperationsCompleteSuccessfully(String transport) {
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
  void tooManyOperationsAreRefusedWithAReason(String transport) {
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(40_000))) {
              List<Handle<TensorView>> handles = new ArrayList<>();
              CommException refused = submit(weft, t, Duration.ofSeconds(6), handles);
              if (refused != null) { // otherwise the other rank has been refused and has closed
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

  /// Submits in ascending order on rank 0 and in descending order on rank 1, until an operation is
  /// refused.
  private static @Nullable CommException submit(
      Weft weft, OwnedTensor t, Duration limit, List<Handle<TensorView>> handles) {
    int count = (int) t.view().shape().elements();
    for (int i = 0; i < count; i++) {
      int number = weft.rank() == 0 ? i : count - 1 - i;
      TensorView one = t.view().rows(number, 1);
      try {
        // The first operations must wait until there is no room for more.
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
