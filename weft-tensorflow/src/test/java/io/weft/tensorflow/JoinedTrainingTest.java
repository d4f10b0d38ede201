// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.tensorflow.framework.optimizers.GradientDescent;

/// Checks training with different numbers of batches on the ranks.
class JoinedTrainingTest {

  private static final int[] BATCHES = {7, 4};

  @Test
  void aRankWithoutDataJoinsWhileOthersTrain() {
    WeftConfig config =
        WeftConfig.load(Map.of("WEFT_TRANSPORT", "tcp", "WEFT_DEADLINE", "15s"), new Properties());
    List<float[]> weights;
    try (LocalJob job = LocalJob.start(2, config)) {
      weights =
          job.run(
              weft -> {
                DataParallelOptions options = DataParallelOptions.of(weft.config()).with(Fusion.ON);
                try (DataParallel parallel = DataParallel.open(weft, options);
                    Mlp model =
                        new Mlp(
                            7,
                            null,
                            graph ->
                                new DistributedOptimizer(
                                    weft.communicator(),
                                    parallel,
                                    new GradientDescent(graph, 0.2f),
                                    GradientOptions.DEFAULT))) {
                  for (int batch = 0; batch < BATCHES[weft.rank()]; batch++) {
                    model.train(1, 2 * Mlp.BATCH, weft.rank() * Mlp.BATCH, Mlp.BATCH);
                  }
                  float[] own = model.weights();
                  int last = parallel.reducer(weft.communicator()).join().await();
                  assertThat(last).isZero();
                  WeftVariables.broadcast(model.session, weft.communicator(), last);
                  assertThat(java.util.Arrays.equals(model.weights(), own))
                      .isEqualTo(weft.rank() == last);
                  return model.weights();
                }
              });
    }
    assertThat(weights.get(1)).containsExactly(weights.get(0));
  }
}
