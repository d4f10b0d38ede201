// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.KvOptions.Levels;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks dense tensors whose pushes are summed by the workers of a host before one of them pushes:
/// one server, and workers on two hosts.
@Timeout(60)
class TwoLevelsTest {

  private static final List<String> HOSTS = List.of("s", "a", "a", "b", "b");
  private static final int LENGTH = 300_000;

  /// The program of a worker.
  private interface Body {
    void run(KvWorker worker, Weft weft) throws Exception;
  }

  private static WeftConfig.Builder tcp() {
    return WeftConfig.builder().transport("tcp");
  }

  /// Returns the bytes that the server sent.
  private static long on(Levels levels, WeftConfig config, Body body) {
    TransportProvider tcp = TransportProvider.find("tcp").orElseThrow();
    try (LocalJob job = LocalJob.across(HOSTS, config, host -> tcp)) {
      KvOptions options = KvOptions.servers(1).with(levels);
      List<KvNode> nodes = job.ranks().stream().map(weft -> KvNode.open(weft, options)).toList();
      job.run(
          weft -> {
            if (weft.rank() > 0) {
              body.run(nodes.get(weft.rank()).worker(), weft);
            }
            return true;
          });
      nodes.forEach(KvNode::close);
      return job.ranks().getFirst().bytesSent();
    }
  }

  private static MemorySegment filled(int elements, float value) {
    MemorySegment memory = Arena.ofAuto().allocate(4L * elements, 64);
    for (int i = 0; i < elements; i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
    }
    return memory;
  }

  /// Checks that each element has this value.
  private static void assertFilled(MemorySegment memory, float value) {
    MemorySegment expected = filled((int) memory.byteSize() / 4, value);
    assertThat(memory.mismatch(expected))
        .as("%s instead of %s", memory.getAtIndex(ValueLayout.JAVA_FLOAT, 0), value)
        .isEqualTo(-1);
  }

  /// Pushes the worker's rank in each step, and its opposite in the last one.
  private static void train(KvWorker worker, Weft weft) throws Exception {
    KvTensor tensor = worker.registerTensor(TableSpec.tensor("w", LENGTH).withRule("sgd:lr=0.5"));
    var unusedInit = tensor.init(filled(LENGTH, weft.rank())).await();
    MemorySegment values = filled(LENGTH, 0);
    for (int step = 1; step <= 4; step++) {
      var pushed = tensor.push(filled(LENGTH, weft.rank()), 3);
      var unusedPull = tensor.pull(values, 3).await(); // which the push need not have preceded
      var unusedPush = pushed.await();
      // The first values are those of rank 1, and the sum of the ranks is 10.
      assertFilled(values, 1 - 5f * step);
    }
    var unusedBoth = tensor.pushPull(filled(LENGTH, -weft.rank()), values).await();
    assertFilled(values, 1 - 5f * 3);
    worker.barrier();
  }

  @Test
  void aHostPushesOnceAndAllItsWorkersHaveTheValues() {
    var pushes = new ConcurrentHashMap<Integer, Long>();
    long two =
        on(
            Levels.TWO,
            tcp().build(),
            (worker, weft) -> {
              assertThat(worker.workers().size()).isEqualTo(4);
              train(worker, weft);
              pushes.put(weft.rank(), worker.counts().pushes());
            });
    assertThat(pushes).containsEntry(1, 5L).containsEntry(3, 5L);
    assertThat(pushes).containsEntry(2, 0L).containsEntry(4, 0L);
    long one = on(Levels.ONE, tcp().build(), TwoLevelsTest::train);
    assertThat(two / (double) one).isBetween(0.45, 0.55);
  }

  @Test
  void tensorsThatBecomeReadyInOtherOrdersAreSummedByName() {
    on(
        Levels.TWO,
        tcp().build(),
        (worker, weft) -> {
          List<KvTensor> tensors = new ArrayList<>();
          for (int i = 0; i < 6; i++) {
            tensors.add(worker.registerTensor(TableSpec.tensor("t" + i, 10 + i)));
          }
          int[] order = IntStream.range(0, 6).map(i -> weft.rank() % 2 == 0 ? i : 5 - i).toArray();
          List<MemorySegment> values =
              IntStream.range(0, 6).mapToObj(i -> filled(10 + i, -1)).toList();
          Map<Integer, Handle<Void>> pulls = new HashMap<>();
          for (int i : order) {
            var pushed = tensors.get(i).push(filled(10 + i, i), i);
            pushed.whenDone((nothing, failure) -> assertThat(failure).isNull());
            pulls.put(i, tensors.get(i).pull(values.get(i), i));
          }
          for (int i : order) {
            var unused = pulls.get(i).await();
            assertFilled(values.get(i), 4 * i);
          }
          worker.barrier();
        });
  }

  @Test
  void aPushThatTheServerRefusesFailsOnAllWorkersOfTheHost() {
    WeftConfig small = tcp().set(KvConfig.MEMORY, "1M").build();
    on(
        Levels.TWO,
        small,
        (worker, weft) -> {
          KvTensor tensor = worker.registerTensor(TableSpec.tensor("w", LENGTH));
          assertThatThrownBy(
                  () -> {
                    var pushed = tensor.push(filled(LENGTH, 1));
                    var unusedPull = tensor.pull(filled(LENGTH, 0)).await();
                    var unused = pushed.await();
                  })
              .isInstanceOf(CommException.class)
              .hasMessageContaining("memory budget");
        });
  }

  @Test
  void whatNeedsEachWorkerIsRefusedInWords() {
    on(
        Levels.TWO,
        tcp().build(),
        (worker, weft) -> {
          String need = "at two levels, which are for synchronous tensors";
          assertThatThrownBy(() -> worker.register(TableSpec.rows("r", 4)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(need);
          var late = TableSpec.tensor("w", 4).with(Consistency.asynchronous());
          assertThatThrownBy(() -> worker.registerTensor(late)).hasMessageContaining(need);
          assertThatThrownBy(() -> worker.checkpoint(Path.of("none")))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("checkpoint at two levels on rank " + weft.rank());
          KvTensor tensor = worker.registerTensor(TableSpec.tensor("w", 4));
          assertThatThrownBy(() -> tensor.compressed("int8"))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("compress with KVStore");
          var half = new TensorView(DType.FLOAT16, Shape.of(4), Arena.ofAuto().allocate(8));
          assertThatThrownBy(() -> tensor.push(half, 0))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the workers of a host sum FLOAT32");
          var other = TableSpec.tensor("v", 4 + weft.rank() % 2);
          assertThatThrownBy(() -> worker.registerTensor(other))
              .isInstanceOf(CommException.Mismatch.class)
              .hasMessageContaining("registration: 'v' is ");
          worker.barrier();
        });
    assertThatThrownBy(() -> KvOptions.everyRank().with(Levels.TWO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("two levels with every rank a server");
  }
}
