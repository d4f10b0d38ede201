// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.collective.Communicator;
import io.weft.tensor.ReduceOp;
import io.weft.testkit.job.LocalJob;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// Checks two graphs with equal names and different values. No rank may ever get a sum of both
/// values.
@Timeout(120)
class SeveralGraphsTest {

  private static final int STEPS = 30;
  private static final float[] VALUES = {1, 100};

  @Test
  void graphsOfOneThreadThatRunConcurrentlyAreIndependent() {
    List<List<String>> all =
        job(
            weft -> {
              try (Graph one = new Graph();
                  Graph other = new Graph()) {
                Operand<TFloat32> first = sum(one, weft.communicator(), VALUES[0]);
                Operand<TFloat32> second = sum(other, weft.communicator(), VALUES[1]);
                return atOnce(List.of(() -> run(one, first), () -> run(other, second)));
              }
            });
    assertThat(all).containsOnly(List.of("2.0", "200.0"));
  }

  @Test
  void graphsOfThreadsWithSeparateCommunicatorsAreIndependent() {
    List<List<String>> all =
        job(
            weft -> {
              Communicator one = weft.communicator(weft.members());
              Communicator other = weft.communicator(weft.members());
              CyclicBarrier open = new CyclicBarrier(2);
              return atOnce(
                  List.of(() -> train(one, VALUES[0], open), () -> train(other, VALUES[1], open)));
            });
    assertThat(all).containsOnly(List.of("2.0", "200.0"));
  }

  @Test
  void graphsOfThreadsWithOneCommunicatorAreRefusedOnAllRanks() {
    List<List<String>> all =
        job(
            weft -> {
              CyclicBarrier open = new CyclicBarrier(2);
              List<Callable<String>> trainings = new ArrayList<>();
              for (int i = 0; i < 2; i++) {
                // The ranks use opposite orders.
                float value = VALUES[(i + weft.rank()) % 2];
                trainings.add(() -> train(weft.communicator(), value, open));
              }
              return atOnce(trainings);
            });
    assertThat(all)
        .allSatisfy(
            ends ->
                assertThat(ends)
                    .allSatisfy(end -> assertThat(end).contains("give each graph its own")));
  }

  @Test
  void failureOfOneRanksOpEndsTheCommunicatorOnAllRanks() {
    List<List<String>> all =
        job(
            weft -> {
              try (Graph graph = new Graph()) {
                Operand<TFloat32> sum = sum(graph, weft.communicator(), 1);
                List<Callable<String>> runs = new ArrayList<>();
                for (int i = 0; i < 2 - weft.rank(); i++) {
                  runs.add(() -> run(graph, sum));
                }
                return atOnce(runs);
              }
            });
    assertThat(all)
        .allSatisfy(
            ends ->
                assertThat(ends)
                    .allSatisfy(
                        end -> assertThat(end).contains("in flight on").contains("rank 0")));
  }

  private static String train(Communicator communicator, float value, CyclicBarrier open)
      throws Exception {
    try (Graph graph = new Graph()) {
      try {
        Operand<TFloat32> sum = sum(graph, communicator, value);
        open.await(60, TimeUnit.SECONDS);
        return run(graph, sum);
      } catch (IllegalStateException refused) {
        open.await(60, TimeUnit.SECONDS);
        return String.valueOf(refused.getMessage());
      }
    }
  }

  private static Operand<TFloat32> sum(Graph graph, Communicator communicator, float value) {
    return new WeftOps(graph, communicator)
        .allreduce(Ops.create(graph).constant(value), "weight", ReduceOp.SUM);
  }

  /// Returns the distinct sums of many steps, and the message of a failure.
  private static String run(Graph graph, Operand<TFloat32> sum) {
    List<String> sums = new ArrayList<>();
    try (Session session = new Session(graph, OpLibrary.load().sessionConfig(graph))) {
      for (int step = 0; step < STEPS; step++) {
        try (Result result = session.runner().fetch(sum).run()) {
          sums.add(Float.toString(((TFloat32) result.get(0)).getFloat()));
        }
      }
    } catch (RuntimeException e) {
      sums.add(String.valueOf(e.getMessage()));
    }
    return String.join(" ", sums.stream().distinct().toList());
  }

  private static List<String> atOnce(List<Callable<String>> parts) throws Exception {
    List<String> ends = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(parts.size())) {
      for (Future<String> part : threads.invokeAll(parts)) {
        ends.add(part.get());
      }
    }
    return ends;
  }

  private static List<List<String>> job(LocalJob.Body<List<String>> body) {
    try (LocalJob job = start()) {
      return job.run(body);
    }
  }

  private static LocalJob start() {
    return LocalJob.start(
        2,
        WeftConfig.load(
            Map.of("WEFT_TRANSPORT", "inproc", "WEFT_DEADLINE", "30s"), new Properties()));
  }
}
