// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.ExpectedFailures;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks counts that no tensor can have. A caller's wrong count is refused at the call, with the
/// same message over every transport. A wrong total of all ranks fails on all ranks and blames
/// none.
@Timeout(120)
class CountsTest {

  private static final long MOST = Long.MAX_VALUE;

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void splitsThatDoNotDivideTheRowsAreRefusedAtOnce(String transport) {
    List<List<Long>> wrong =
        List.of(
            List.of(MOST, MOST, 8L), // the sum wraps to 6
            List.of(Long.MIN_VALUE, Long.MIN_VALUE, 6L), // this sum wraps, too
            List.of(-1L, 3L, 4L),
            List.of(2L, 2L, 1L),
            List.of(2L, 2L, 3L),
            List.of(6L, 0L),
            List.of(6L, 0L, 0L, 0L));
    try (LocalJob job = LocalJob.over(transport, 3)) {
      job.run(
          weft -> {
            Communicator comm = weft.communicator();
            try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(6, 2))) {
              for (List<Long> splits : wrong) {
                assertThatIllegalArgumentException()
                    .isThrownBy(() -> comm.alltoall(t.view(), splits, named("a")))
                    .withMessageContaining("'a'")
                    .withMessageContaining("rank " + weft.rank())
                    .withMessageContaining(splits.toString())
                    .withMessageContaining("6 rows of INT32[6, 2]");
              }
              var received = comm.alltoall(t.view(), List.of(1L, 2L, 3L), named("a")).await();
              assertThat(received.splits()).containsOnly(weft.rank() + 1L);
              received.tensor().close();
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void rowsLargerThanAnyTensorAreRefusedAtOnce(String transport) {
    List<Shape> wrong = List.of(Shape.of(0, 1L << 61), Shape.of(0, 1L << 40, 1L << 40));
    try (LocalJob job = LocalJob.over(transport, 2)) {
      job.run(
          weft -> {
            Communicator comm = weft.communicator();
            for (Shape shape : wrong) {
              TensorView none = new TensorView(DType.FLOAT64, shape, Arena.ofAuto().allocate(0));
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> comm.allgather(none, named("g")))
                  .withMessageContaining("'g'")
                  .withMessageContaining(shape.toString())
                  .withMessageContaining("rank " + weft.rank());
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> comm.alltoall(none, List.of(0L, 0L), named("a")))
                  .withMessageContaining("'a'");
              assertThatIllegalArgumentException()
                  .isThrownBy(() -> comm.reduceScatter(none, none, ReduceOp.SUM, named("r")))
                  .withMessageContaining("'r'");
            }
            return comm.barrier(named("b")).await() == null;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void tooManyRowsOfAllRanksFailAndBlameNoRank(String transport) {
    try (LocalJob job = LocalJob.over(transport, 3)) {
      job.run(
          weft -> {
            Shape shape = Shape.of(1L << 62, 0); // rows without bytes
            TensorView none = new TensorView(DType.FLOAT32, shape, Arena.ofAuto().allocate(0));
            CommException e = ExpectedFailures.of(weft.communicator().allgather(none, named("g")));
            assertThat(e)
                .isInstanceOf(CommException.Aborted.class)
                .hasMessageContaining("'g'")
                .hasMessageContaining("more than any tensor has")
                .hasMessageNotContaining("same version");
            return true;
          });
    }
  }
}
