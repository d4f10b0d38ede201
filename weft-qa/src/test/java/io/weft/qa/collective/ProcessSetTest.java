// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Algorithms;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessSetTest {

  @Test
  void oddAndEvenRanksReduceApart() {
    try (LocalJob job = LocalJob.start(5, WeftConfig.builder().transport("tcp").build())) {
      List<Integer> sums =
          job.run(
              weft -> {
                ProcessSet mine =
                    weft.rank() % 2 == 0
                        ? new ProcessSet(List.of(4, 2, 0))
                        : new ProcessSet(List.of(1, 3));
                Communicator comm = weft.communicator(mine);
                try (OwnedTensor t = OwnedTensor.allocate(DType.INT32, Shape.of(3))) {
                  t.view().data().setAtIndex(ValueLayout.JAVA_INT, 1, weft.rank());
                  var unused = comm.allreduce(t.view(), t.view(), ReduceOp.SUM, named("s")).await();
                  assertThat(comm.rank()).isEqualTo(mine.rankOf(weft.rank()));
                  return t.view().data().getAtIndex(ValueLayout.JAVA_INT, 1);
                }
              });
      assertThat(sums).containsExactly(6, 4, 6, 4, 6);
    }
  }

  @Test
  void aRankOutsideTheSetIsRefused() {
    try (LocalJob job = LocalJob.start(2, WeftConfig.builder().transport("inproc").build())) {
      assertThatThrownBy(() -> job.ranks().getFirst().communicator(new ProcessSet(List.of(1))))
          .hasMessageContaining("rank 0 is not in the process set [1]");
      assertThatThrownBy(() -> job.ranks().getFirst().communicator(new ProcessSet(List.of(0, 7))))
          .hasMessageContaining("rank 7");
    }
  }

  @Test
  void anyOrderOfSubmissionGivesTheSameBits() {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    for (String algorithm : Algorithms.allreduceNames()) {
      var digests = new HashSet<List<Integer>>();
      for (int run = 0; run < 3; run++) {
        try (LocalJob job = LocalJob.start(3, WeftConfig.builder().transport("tcp").build())) {
          int order = run;
          digests.addAll(
              job.run(weft -> sums(weft.communicator(), algorithm, seed, order + weft.rank())));
        }
      }
      assertThat(digests).as("%s, seed %d", algorithm, seed).hasSize(1);
    }
  }

  private static List<Integer> sums(Communicator comm, String algorithm, long seed, int order)
      throws InterruptedException {
    List<OwnedTensor> tensors = new ArrayList<>();
    List<Integer> indices = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      tensors.add(
          TensorModel.random(
              DType.FLOAT32,
              Shape.of(1 + i * 20_000),
              new SplittableRandom(seed + i * 100L + comm.rank())));
      indices.add(i);
    }
    Collections.shuffle(indices, new Random(order));
    var handles = new ArrayList<io.weft.comm.Handle<?>>();
    for (int i : indices) {
      var view = tensors.get(i).view();
      handles.add(comm.allreduce(view, view, ReduceOp.AVERAGE, named("t" + i).by(algorithm)));
    }
    for (var handle : handles) {
      handle.await();
    }
    List<Integer> digest = new ArrayList<>();
    for (OwnedTensor tensor : tensors) {
      int hash = 1;
      for (long i = 0; i < tensor.view().shape().elements(); i++) {
        hash = 31 * hash + tensor.view().data().getAtIndex(ValueLayout.JAVA_INT, i);
      }
      digest.add(hash);
      tensor.close();
    }
    return digest;
  }
}
