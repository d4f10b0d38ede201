// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that a `KVStore` compares the arguments of all workers before anything changes.
@Timeout(60)
class KVStoreSameTest {

  /// The program of a worker.
  private interface Body {
    void run(KVStore store) throws Exception;
  }

  /// Runs a job of one server and two workers.
  private static void on(List<String> hosts, List<String> optimizers, Body body) {
    WeftConfig config = WeftConfig.builder().transport("tcp").build();
    TransportProvider tcp = TransportProvider.find("tcp").orElseThrow();
    try (LocalJob job = LocalJob.across(hosts, config, host -> tcp)) {
      List<KVStore> stores =
          job.ranks().stream()
              .map(
                  weft ->
                      KVStore.open(
                          weft,
                          KVStoreOptions.servers(1).withOptimizer(optimizers.get(weft.rank()))))
              .toList();
      job.run(
          weft -> {
            if (weft.rank() > 0) {
              body.run(stores.get(weft.rank()));
            }
            return true;
          });
      stores.forEach(KVStore::close);
    }
  }

  private static TensorView tensor(int elements) {
    return new TensorView(
        DType.FLOAT32, Shape.of(elements), Arena.ofAuto().allocate(4L * elements, 64));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "b"})
  void differentLengthsNamesAndWidthsFailOnAllWorkersAndTheStoreContinues(String second) {
    on(
        List.of("s", "a", second),
        List.of("sum", "sum", "sum"),
        store -> {
          var lengths = Map.of("v", tensor(4), "w", tensor(5 + store.rank()));
          assertThatThrownBy(() -> store.init(lengths))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("'w' is FLOAT32[5] on rank 1, FLOAT32[6] on rank 2");
          var names =
              store.rank() == 0
                  ? Map.of("v", tensor(4))
                  : Map.of("v", tensor(4), "more", tensor(1));
          assertThatThrownBy(() -> store.init(names))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("'more' is nothing on rank 1, FLOAT32[1] on rank 2");
          assertThatThrownBy(() -> store.initRows("r", 3 + store.rank(), "zero"))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("rows of 3 floats that begin with zero on rank 1")
              .hasMessageContaining("rows of 4 floats that begin with zero on rank 2");
          var same = Map.of("v", tensor(4), "w", tensor(5));
          store.init(same);
          TensorView ones = tensor(5);
          for (int i = 0; i < 5; i++) {
            ones.data().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
          }
          store.push(Map.of("w", ones));
          store.pull(same);
          assertThat(same.get("w").data().getAtIndex(ValueLayout.JAVA_FLOAT, 4)).isEqualTo(2);
          store.barrier();
        });
  }

  @Test
  void differentOptimizersFailOnAllWorkers() {
    on(
        List.of("s", "a", "b"),
        List.of("sum", "sgd:lr=0.1", "sgd:lr=0.2"),
        store ->
            assertThatThrownBy(() -> store.init(Map.of("v", tensor(4))))
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining(
                    "the optimizer is sgd:lr=0.1 on rank 1, sgd:lr=0.2 on rank 2"));
  }
}
