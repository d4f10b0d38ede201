// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.kv.spec.Consistency;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks what MXNet's tests of `dist_sync` check, on two servers and three workers on two hosts.
@Timeout(120)
class KVStoreTest {

  private static final List<String> HOSTS = List.of("s", "s", "a", "a", "b");
  private static final int WORKERS = 3;

  /// The program of a worker.
  private interface Body {
    void run(KVStore store, Weft weft) throws Exception;
  }

  private static void on(KVStoreOptions options, Body body) {
    WeftConfig config = WeftConfig.builder().transport("tcp").build();
    TransportProvider tcp = TransportProvider.find("tcp").orElseThrow();
    try (LocalJob job = LocalJob.across(HOSTS, config, host -> tcp)) {
      List<KVStore> stores = job.ranks().stream().map(weft -> KVStore.open(weft, options)).toList();
      job.run(
          weft -> {
            KVStore store = stores.get(weft.rank());
            if (store.server().isEmpty()) {
              body.run(store, weft);
            }
            return true;
          });
      stores.forEach(KVStore::close);
    }
  }

  private static TensorView tensor(int elements, float value) {
    return tensor(filled(elements, value));
  }

  private static TensorView tensor(float[] values) {
    var memory = Arena.ofAuto().allocate(4L * values.length, 64);
    memory.copyFrom(MemorySegment.ofArray(values));
    return new TensorView(DType.FLOAT32, Shape.of(values.length), memory);
  }

  private static float[] filled(int elements, float value) {
    float[] values = new float[elements];
    Arrays.fill(values, value);
    return values;
  }

  private static float[] floats(TensorView view) {
    return view.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "fp16", "int8"})
  void afterEachRoundAllWorkersPullTheSumOfAllPushes(String compression) {
    on(
        KVStoreOptions.servers(2).withCompression(compression),
        (store, weft) -> {
          assertThat(store.workers()).isEqualTo(WORKERS);
          Map<String, TensorView> values =
              Map.of("small", tensor(6, 1 + store.rank()), "large", tensor(1_200_000, 1));
          store.init(values);
          for (int round = 1; round <= 3; round++) {
            float mine = store.rank() + 1;
            store.push(Map.of("small", tensor(6, mine), "large", tensor(1_200_000, mine)));
            store.pull(values);
            // The first values are those of the lowest worker.
            float expected = 1 + round * WORKERS * (WORKERS + 1) / 2f;
            assertThat(floats(values.get("small"))).containsOnly(expected);
            assertThat(floats(values.get("large"))).containsOnly(expected);
          }
          store.barrier();
        });
  }

  @Test
  void workersOfAHostPushOnce() {
    var sent = new AtomicLong();
    on(
        KVStoreOptions.servers(2).withOptimizer("sgd:lr=0.5").with(Consistency.asynchronous()),
        (store, weft) -> {
          Map<String, TensorView> values = Map.of("w", tensor(1_000_000, 0));
          store.init(values);
          long before = weft.bytesSent();
          store.push(Map.of("w", tensor(1_000_000, 1)));
          store.barrier();
          store.pull(values);
          assertThat(floats(values.get("w"))).containsOnly(-0.5f * WORKERS);
          if (store.rank() == 1) { // not the lowest rank of its host
            sent.set(weft.bytesSent() - before);
          }
          store.barrier();
        });
    // The peer on the host gets half of the tensor and half of the sum, the servers nothing.
    assertThat(sent.get()).isLessThan(4_100_000);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, Consistency.ASYNCHRONOUS})
  void rowsOfSomeWorkersAreAddedAndEachWorkerPullsItsOwnList(int staleness) {
    on(
        KVStoreOptions.servers(2).with(new Consistency(staleness, 0)),
        (store, weft) -> {
          store.initRows("rows", 2, "zero");
          int rank = store.rank();
          store.pushRows("rows", new long[] {rank, 9, 9}, new float[] {1, 2, 3, 4, 5, 6});
          store.barrier();
          float[] into = new float[8];
          store.pullRows("rows", new long[] {9, rank, 9, 77}, into);
          assertThat(into).containsExactly(24, 30, 1, 2, 24, 30, 0, 0);
          store.pushRows("rows", new long[0], new float[0]);
          store.pullRows("rows", new long[0], new float[0]);
          store.barrier();
          float[] same = new float[2];
          store.pullRows("rows", new long[] {9}, same);
          assertThat(same).containsExactly(24, 30);
          store.barrier();
        });
  }

  @Test
  void theResidualOfSixteenBitsIsSentWithLaterPushes() {
    on(
        KVStoreOptions.servers(1).withCompression("fp16").with(Consistency.asynchronous()),
        (store, weft) -> {
          var random = new Random(17);
          int elements = 5_000;
          double[] exact = new double[elements];
          Map<String, TensorView> values = Map.of("w", tensor(elements, 0));
          store.init(values);
          for (int round = 0; round < 50; round++) {
            float[] gradient = new float[elements];
            for (int i = 0; i < elements; i++) {
              gradient[i] = random.nextFloat() - 0.5f; // the same on all workers
              exact[i] += 4.0 * gradient[i]; // with one server, rank 1 is a worker too
            }
            store.push(Map.of("w", tensor(gradient)));
          }
          store.barrier();
          store.pull(Map.of("w", values.get("w")));
          float[] pulled = floats(values.get("w"));
          for (int i = 0; i < elements; i++) {
            // Pulled values are not rounded. Pushed values lack only the last residual of a host.
            assertThat((double) pulled[i]).isCloseTo(exact[i], within(0.01));
          }
          store.barrier();
        });
  }

  @Test
  void unknownNamesAndOtherLengthsAreRefused() {
    on(
        KVStoreOptions.servers(2),
        (store, weft) -> {
          store.init(Map.of("w", tensor(3, 0)));
          assertThatThrownBy(() -> store.push(Map.of("v", tensor(3, 0))))
              .hasMessageContaining("no tensor 'v'");
          assertThatThrownBy(() -> store.push(Map.of("w", tensor(4, 0))))
              .hasMessageContaining("'w'")
              .hasMessageContaining("expected 3 elements");
          assertThatThrownBy(() -> store.init(Map.of("w", tensor(3, 0))))
              .hasMessageContaining("'w' has first values already");
          assertThatThrownBy(() -> store.pullRows("r", new long[0], new float[0]))
              .hasMessageContaining("no rows 'r'");
          store.barrier();
        });
  }
}
