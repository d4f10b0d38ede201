// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.kv.KvTensor;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.embedding.EmbeddingJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.exceptions.TensorFlowException;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.types.TFloat32;

/// Checks weights on servers as ops of a graph: a small one, whose value is copied, and a large
/// one, whose value is lent.
@Timeout(120)
class ServedVariablesTest {

  /// The multiplications between two served layers, which take some 100 ms: TensorFlow starts the
  /// second layer's push on another thread meanwhile.
  private static final int LAYERS_BETWEEN = 600;

  private static final int SMALL = 3;
  private static final int LARGE = 5000;

  /// The graph of a worker, whose loss is the sum of all elements of both variables, each
  /// multiplied by a factor, so that the factor is every gradient.
  private static final class Worker implements AutoCloseable {
    private final Graph graph = new Graph();
    private final ServedVariables weights;
    private final List<KvTensor> tensors = new ArrayList<>();
    private final List<Operand<TFloat32>> values = new ArrayList<>();
    private final Operand<TFloat32> loss;
    private final List<Operation> pushes;
    private final Session session;

    Worker(KvWorker store, Weft weft, Consistency consistency, float factor) throws Exception {
      weights = ServedVariables.of(weft);
      Ops tf = Ops.create(graph);
      Operand<TFloat32> by = tf.constant(factor);
      for (int elements : new int[] {SMALL, LARGE}) {
        var spec =
            TableSpec.tensor("w" + elements, elements).withRule("sgd:lr=0.5").with(consistency);
        KvTensor tensor = store.registerTensor(spec);
        tensors.add(tensor);
        values.add(weights.add(tf, tensor, Shape.of(1, elements), by));
      }
      loss = tf.math.mul(by, tf.math.add(sum(tf, values.getFirst()), sum(tf, values.getLast())));
      pushes = weights.push(tf, loss);
      session = new Session(graph);
    }

    private static Operand<TFloat32> sum(Ops tf, Operand<TFloat32> values) {
      return tf.reduceSum(values, tf.constant(new int[] {0, 1}));
    }

    void step() throws InterruptedException {
      Session.Runner runner = session.runner().fetch(loss);
      pushes.forEach(runner::addTarget);
      runner.run().close();
      weights.clock();
    }

    /// Returns a value, whose elements must all be equal, by a run without pushes.
    float value(int variable) {
      try (Result result = session.runner().fetch(values.get(variable)).run()) {
        assertThat(result.get(0).shape()).isEqualTo(values.get(variable).asOutput().shape());
        float[] all = TensorViews.of(result.get(0)).data().toArray(ValueLayout.JAVA_FLOAT);
        assertThat(all).containsOnly(all[0]);
        return all[0];
      }
    }

    @Override
    public void close() {
      session.close();
      weights.close();
      graph.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void stepsOfAllWorkersMoveTheWeights(String transport) {
    try (var job = new EmbeddingJob(transport, 2, 2)) {
      job.onWorkers(
          (store, weft) -> {
            try (var worker = new Worker(store, weft, Consistency.synchronous(), weft.rank())) {
              worker.weights.pull();
              for (int step = 0; step < 5; step++) {
                // The gradients of the workers are their ranks, 2 and 3, and the rate is a half.
                assertThat(worker.value(0)).isEqualTo(-2.5f * step);
                assertThat(worker.value(1)).isEqualTo(-2.5f * step);
                worker.step();
              }
              worker.weights.flush();
              assertThat(worker.weights.values().getLast().data().toArray(ValueLayout.JAVA_FLOAT))
                  .hasSize(LARGE)
                  .containsOnly(-12.5f);
              assertThat(worker.weights.failure()).isEmpty();
              store.barrier();
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLoneWorkerSeesItsOwnSteps(boolean bounded) {
    Consistency consistency = bounded ? Consistency.bounded(2) : Consistency.asynchronous();
    try (var job = new EmbeddingJob("tcp", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            try (var worker = new Worker(store, weft, consistency, 4)) {
              worker.weights.pull();
              for (int step = 0; step < 5; step++) {
                assertThat(worker.value(0)).isEqualTo(-2f * step);
                assertThat(worker.value(1)).isEqualTo(-2f * step);
                worker.step();
              }
              worker.weights.flush();
              assertThat(store.counts().pushes()).isEqualTo(2 * 5);
              assertThat(store.counts().pulls()).isEqualTo(2 * 6);
            }
            return true;
          });
    }
  }

  @Test
  void aRunWaitsOnlyForTheValuesThatItUses() {
    try (var job = new EmbeddingJob("tcp", 1, 2)) {
      job.onWorkers(
          (store, weft) -> {
            try (var worker = new Worker(store, weft, Consistency.synchronous(), 2)) {
              worker.weights.pull();
              worker.weights.flush();
              store.barrier();
              if (weft.rank() == 1) {
                long before = worker.weights.exposedNanos();
                worker.step();
                assertThat(worker.value(0)).isEqualTo(-2);
                // The other worker pushes the large tensor when it has passed this barrier.
                assertThatThrownBy(worker.weights::values).hasMessageContaining("not arrived");
                store.barrier();
                assertThat(worker.value(1)).isEqualTo(-2);
                assertThat(worker.weights.exposedNanos() - before).isGreaterThan(150_000_000);
              } else {
                push(worker.tensors.getFirst(), SMALL);
                store.barrier();
                LockSupport.parkNanos(200_000_000);
                push(worker.tensors.getLast(), LARGE);
              }
              store.barrier();
            }
            return true;
          });
    }
  }

  private static void push(KvTensor tensor, int elements) throws InterruptedException {
    MemorySegment gradient = Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, elements);
    for (int i = 0; i < elements; i++) {
      gradient.setAtIndex(ValueLayout.JAVA_FLOAT, i, 2);
    }
    var unused = tensor.push(gradient).await();
  }

  /// Two layers, between which the backward pass has much to compute.
  @Test
  void gradientsLeaveInTheOrderOfTheBackwardPass() {
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            List<String> submitted = new CopyOnWriteArrayList<>();
            weft.observe(
                new OperationObserver() {
                  @Override
                  public void submitted(ObservedOperation it) {
                    if (it.name().startsWith("push ")) {
                      submitted.add(it.table());
                    }
                  }
                });
            try (var weights = ServedVariables.of(weft);
                Graph graph = new Graph()) {
              Ops tf = Ops.create(graph);
              Operand<TFloat32> x = tf.fill(tf.constant(new int[] {64, 256}), tf.constant(1f));
              Operand<TFloat32> square =
                  tf.fill(tf.constant(new int[] {256, 256}), tf.constant(1 / 256f));
              for (String layer : List.of("first", "second")) {
                var spec = TableSpec.tensor(layer, 256 * 256).withRule("sgd:lr=0.5");
                x =
                    tf.linalg.matMul(
                        x, weights.add(tf, store.registerTensor(spec), Shape.of(256, 256), x));
                for (int between = 0;
                    layer.equals("first") && between < LAYERS_BETWEEN;
                    between++) {
                  x = tf.linalg.matMul(x, square);
                }
              }
              List<Operation> pushes =
                  weights.push(tf, tf.reduceSum(x, tf.constant(new int[] {0, 1})));
              weights.pull();
              var threads =
                  ConfigProto.newBuilder()
                      .setUsePerSessionThreads(true)
                      .setInterOpParallelismThreads(2)
                      .build();
              try (Session session = new Session(graph, threads)) {
                Session.Runner runner = session.runner();
                pushes.forEach(runner::addTarget);
                runner.run().close();
                weights.flush();
              }
            }
            assertThat(submitted).containsExactly("second", "first");
            return true;
          });
    }
  }

  @Test
  void theLossOfAServerFailsTheStepThatNeedsIt() {
    try (var job = new EmbeddingJob("tcp", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            try (var worker = new Worker(store, weft, Consistency.synchronous(), 2)) {
              worker.weights.pull();
              worker.step();
              worker.weights.flush();
              job.lose(0);
              assertThatThrownBy(
                      () -> {
                        worker.step();
                        worker.step();
                      })
                  .isInstanceOfAny(TensorFlowException.class, CommException.class);
              assertThat(worker.weights.failure()).containsInstanceOf(CommException.PeerLost.class);
              assertThatThrownBy(worker.weights::flush).isInstanceOf(CommException.class);
            }
            return true;
          });
    }
  }

  @Test
  void wrongUseIsRefusedInWords() {
    try (var job = new EmbeddingJob("inproc", 1, 1)) {
      job.onWorkers(
          (store, weft) -> {
            try (var worker = new Worker(store, weft, Consistency.synchronous(), 2)) {
              assertThatThrownBy(worker::step)
                  .hasMessageMatching("(?s)value of tensor 'w.*' on rank 1: no value was pulled.*");
              Ops tf = Ops.create(worker.graph);
              KvTensor tensor = worker.tensors.getFirst();
              assertThatThrownBy(
                      () -> worker.weights.add(tf, tensor, Shape.of(2, 2), tf.constant(1f)))
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining("tensor 'w3' of 3 elements as a variable of shape [2, 2]");
            }
            return true;
          });
    }
  }
}
