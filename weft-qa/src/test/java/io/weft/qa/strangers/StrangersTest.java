// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.strangers;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStore;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.Secret;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that a job under attack by strangers of all kinds, at all its ports, while it joins and
/// while it works, gets the same weights as without them in hardly more memory.
@Timeout(180)
class StrangersTest {

  private static final int RANKS = 3;
  private static final String JOB = "besieged";
  private static final int ELEMENTS = 20_000;
  private static final int STEPS = 40;
  private static final int CROWD = 80;
  private static final int VISITS = 40;
  private static final long MOST_GROWTH_BYTES = 64L << 20;
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private final Secret secret = SecretFile.random();
  private final JobTrust trust = new JobTrust(secret, new Encryption.Off(), "job");

  @Test
  void aJobUnderAttackGetsTheSameWeightsAsAJobAlone() throws Exception {
    try (TcpStoreServer server =
            TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, trust, LIMIT);
        Strangers atTheStore = at(List.of(server.address()));
        ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<Weft>> joining = new ArrayList<>();
      for (int rank = 0; rank < RANKS; rank++) {
        int me = rank;
        joining.add(threads.submit(() -> join(server.address(), me)));
      }
      List<Weft> ranks = new ArrayList<>();
      for (Future<Weft> one : joining) {
        ranks.add(one.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
      }
      List<Integer> alone = all(threads, ranks, StrangersTest::digest);
      long before = directBytes();
      try (Strangers atTheRanks = at(ranks.stream().map(StrangersTest::port).toList())) {
        List<Integer> besieged =
            all(threads, ranks, weft -> digestWhile(weft, atTheStore, atTheRanks, before));
        assertThat(besieged).as("weights of all ranks").isEqualTo(alone);
        assertThat(atTheRanks.letIn()).isEmpty();
      }
      assertThat(atTheStore.letIn()).isEmpty();
      List<Boolean> unused =
          all(
              threads,
              ranks,
              weft -> {
                weft.close();
                return true;
              });
    }
  }

  private Strangers at(List<InetSocketAddress> ports) throws Exception {
    return Strangers.at(ports, JOB, secret, CROWD, Long.getLong("weft.test.seed", 1));
  }

  private Weft join(InetSocketAddress server, int rank) throws InterruptedException {
    try (TcpStore store =
        TcpStore.connect(server.getAddress().getHostAddress(), server.getPort(), trust, LIMIT)) {
      var launch =
          new LaunchEnvironment(
              "testkit",
              rank,
              RANKS,
              OptionalInt.of(rank),
              OptionalInt.of(RANKS),
              Optional.of(JOB),
              new StoreLocation.InProcess());
      WeftConfig config =
          WeftConfig.builder().transport("tcp").startDeadline(LIMIT).deadline(LIMIT).build();
      return Weft.init(config, launch, store, secret, JOB);
    }
  }

  private static InetSocketAddress port(Weft weft) {
    String location = weft.topology().members().get(weft.rank()).addresses().getFirst().location();
    int colon = location.lastIndexOf(':');
    return new InetSocketAddress(
        location.substring(0, colon), Integer.parseInt(location.substring(colon + 1)));
  }

  private interface Body<T> {
    T run(Weft weft) throws Exception;
  }

  private static <T> List<T> all(ExecutorService threads, List<Weft> ranks, Body<T> body)
      throws Exception {
    List<Future<T>> running =
        ranks.stream().map(weft -> threads.submit(() -> body.run(weft))).toList();
    List<T> results = new ArrayList<>();
    for (Future<T> one : running) {
      results.add(one.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
    }
    return results;
  }

  /// Trains repeatedly until enough strangers of each kind have attacked. Each result must be the
  /// same, and the memory outside the heap must not grow.
  private static int digestWhile(Weft weft, Strangers atTheStore, Strangers atTheRanks, long before)
      throws InterruptedException {
    int first = digest(weft);
    boolean more = true;
    while (more) {
      assertThat(digest(weft)).isEqualTo(first);
      assertThat(directBytes() - before)
          .as("growth of direct memory")
          .isLessThan(MOST_GROWTH_BYTES);
      more = rootSays(weft, !(enough(atTheStore) && enough(atTheRanks)));
    }
    return first;
  }

  private static boolean enough(Strangers strangers) {
    return strangers.visits().values().stream().allMatch(count -> count >= VISITS);
  }

  private static boolean rootSays(Weft weft, boolean word) throws InterruptedException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment said = arena.allocate(4, 64);
      said.set(ValueLayout.JAVA_INT, 0, word ? 1 : 0);
      var view = new TensorView(DType.INT32, Shape.of(1), said);
      weft.communicator().broadcast(view, 0, named("more")).await();
      return said.get(ValueLayout.JAVA_INT, 0) == 1;
    }
  }

  /// Returns a digest of the weights after a few steps of descent, in which each rank has a part of
  /// the data.
  private static int digest(Weft weft) throws InterruptedException {
    Communicator communicator = weft.communicator();
    float[] weights = new float[ELEMENTS];
    try (Arena arena = Arena.ofShared()) {
      MemorySegment gradient = arena.allocate(4L * ELEMENTS, 64);
      var view = new TensorView(DType.FLOAT32, Shape.of(ELEMENTS), gradient);
      for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < ELEMENTS; i++) {
          float wanted = (i % 97) * (weft.rank() + 1) + step;
          gradient.setAtIndex(ValueLayout.JAVA_FLOAT, i, weights[i] - wanted / 3);
        }
        communicator.allreduce(view, view, ReduceOp.AVERAGE, named("gradient")).await();
        for (int i = 0; i < ELEMENTS; i++) {
          weights[i] -= 0.1f * gradient.getAtIndex(ValueLayout.JAVA_FLOAT, i);
        }
      }
    }
    return Arrays.hashCode(weights);
  }

  private static long directBytes() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }
}
