// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.resource;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks names that are used once, as in `named("step-" + n)`, and names that are used again much
/// later: they occupy no memory for long, and different uses of one name are not confused.
@Timeout(300)
class ManyNamesTest {

  private static final int BATCH = 500;
  private static final long SLACK_BYTES = 12 << 20; // 120,000 names took 50 MB on two ranks

  @ParameterizedTest
  @CsvSource({"shm, 2", "tcp, 3"})
  void namesThatAreNotUsedAgainAreForgotten(String transport, int size) {
    try (LocalJob job = LocalJob.over(transport, size)) {
      job.run(weft -> steps(weft, 0, 80_000));
      Resources before = Resources.now();
      job.run(weft -> steps(weft, 80_000, 200_000));
      Resources.assertNoMoreThan(before, SLACK_BYTES);
    }
  }

  private static boolean steps(Weft weft, int from, int until) throws InterruptedException {
    Communicator comm = weft.communicator();
    var random = RandomGenerator.of("L64X128MixRandom");
    var again = new java.util.Random(from); // the same on all ranks
    try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(BATCH))) {
      for (int first = from; first < until; first += BATCH) {
        List<Integer> steps = new ArrayList<>();
        for (int i = 0; i < BATCH - 10; i++) {
          steps.add(first + i);
        }
        while (steps.size() < BATCH) {
          int old = again.nextInt(first + BATCH);
          if (!steps.contains(old)) {
            steps.add(old);
          }
        }
        // Each rank has its own order.
        for (int i = steps.size() - 1; i > 0; i--) {
          java.util.Collections.swap(steps, i, random.nextInt(i + 1));
        }
        sum(comm, t, steps);
      }
    }
    return true;
  }

  private static void sum(Communicator comm, OwnedTensor t, List<Integer> steps)
      throws InterruptedException {
    List<Handle<TensorView>> handles = new ArrayList<>();
    for (int i = 0; i < steps.size(); i++) {
      t.view().data().setAtIndex(ValueLayout.JAVA_INT, i, steps.get(i));
      TensorView one = t.view().rows(i, 1);
      handles.add(comm.allreduce(one, one, ReduceOp.SUM, named("step-" + steps.get(i))));
    }
    for (int i = 0; i < steps.size(); i++) {
      var unused = handles.get(i).await();
      assertThat(t.view().data().getAtIndex(ValueLayout.JAVA_INT, i))
          .isEqualTo(comm.size() * steps.get(i));
    }
  }
}
