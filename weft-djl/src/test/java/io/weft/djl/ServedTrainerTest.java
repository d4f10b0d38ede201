// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ServedTrainerTest {

  private static final int STEPS = 6;
  private static final int ROWS = 8;
  private static final Shape INPUT = new Shape(ROWS, SmallNetwork.FEATURES);
  private static final String RULE = "momentum:lr=0.1,momentum=0.9";

  @BeforeAll
  static void loadPyTorch() {
    var unused = PyTorch.load();
  }

  @Test
  void twoSynchronousWorkersTrainLikeOneRankWithTheWholeBatch() {
    Map<String, float[]> alone = SmallNetwork.trainedAlone(STEPS, 2 * ROWS);
    List<Map<String, float[]>> workers = trained(Consistency.synchronous());
    alone.forEach(
        (name, weights) -> {
          assertThat(workers.getFirst().get(name)).as(name).containsExactly(weights, within(1e-5f));
          assertThat(workers.getLast().get(name))
              .as(name)
              .containsExactly(workers.getFirst().get(name));
        });
  }

  @Test
  void boundedAndAsynchronousWorkersMoveTheWeights() {
    for (Consistency consistency : List.of(Consistency.bounded(2), Consistency.asynchronous())) {
      List<Map<String, float[]>> workers = trained(consistency);
      float[] first = workers.getFirst().get("01Linear_weight");
      assertThat(first[0]).as("the first weight, at first 0, with %s", consistency).isNotZero();
    }
  }

  /// Trains on one server and two workers. Returns the weights of the workers.
  private static List<Map<String, float[]>> trained(Consistency consistency) {
    try (LocalJob job = LocalJob.over("shm", 3)) {
      return job.run(
              weft ->
                  served(
                      weft,
                      worker -> {
                        int index = worker.workers().rank();
                        try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
                            var trainer =
                                new ServedTrainer(
                                    worker,
                                    RULE,
                                    consistency,
                                    model,
                                    SmallNetwork.config(1 + index))) {
                          trainer.initialize(INPUT);
                          for (int step = 0; step < STEPS; step++) {
                            SmallNetwork.step(trainer, (2 * step + index) * ROWS, ROWS);
                          }
                          return SmallNetwork.weights(model);
                        }
                      }))
          .subList(1, 3);
    }
  }

  /// The part of a worker.
  @FunctionalInterface
  private interface WorkerBody {
    Map<String, float[]> run(KvWorker worker);
  }

  private static Map<String, float[]> served(Weft weft, WorkerBody body) throws Exception {
    try (KvNode kv = KvNode.open(weft, KvOptions.servers(1))) {
      Map<String, float[]> weights = weft.rank() == 0 ? Map.of() : body.run(kv.worker());
      var unused = weft.communicator().barrier(CollectiveOptions.named("end")).await();
      return weights;
    }
  }

  @Test
  void aWorkerWithAnotherModelIsRefusedOnAllWorkers() {
    try (LocalJob job = LocalJob.over("shm", 3)) {
      job.run(
          weft ->
              served(
                  weft,
                  worker -> {
                    int hidden = SmallNetwork.HIDDEN + worker.workers().rank();
                    try (Model model = SmallNetwork.model(hidden);
                        var trainer =
                            new ServedTrainer(
                                worker,
                                RULE,
                                Consistency.synchronous(),
                                model,
                                SmallNetwork.config(1))) {
                      assertThatThrownBy(() -> trainer.initialize(INPUT))
                          .isInstanceOf(CommException.Mismatch.class)
                          .hasMessageContaining("parameter '01Linear_weight' of rank 1");
                    }
                    return Map.of();
                  }));
    }
  }

  @Test
  void anUnknownRuleIsRefused() {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      job.run(
          weft ->
              served(
                  weft,
                  worker -> {
                    try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN)) {
                      assertThatThrownBy(
                              () ->
                                  new ServedTrainer(
                                      worker,
                                      "sgdd",
                                      Consistency.synchronous(),
                                      model,
                                      SmallNetwork.config(1)))
                          .hasMessageContaining("unknown rule");
                    }
                    return Map.of();
                  }));
    }
  }
}
