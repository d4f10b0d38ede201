// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.link.LinkRank;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.UsableTransport;
import io.weft.perf.rank.PerfRank;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.sendrecv.SendRecvRanks;
import io.weft.transport.Capabilities;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Weft as a contestant: ranks of this build on this host, each in a separate JVM.
///
/// @param name name of this contestant
/// @param settings the ranks' settings as environment variables
record WeftPeer(String name, Map<String, String> settings) implements MeasuredPeer {

  /// The name of Weft that keeps no memory registered.
  static final String EACH_TIME = "each-time";

  private static final long OVERHEAD_BYTES = 1L << 30;

  WeftPeer {
    settings = Map.copyOf(settings);
  }

  /// Creates Weft with the settings of this process.
  WeftPeer() {
    this(PerfFigures.WEFT, Map.of());
  }

  /// Returns Weft that registers each region with the RDMA device separately.
  static WeftPeer eachTime() {
    return new WeftPeer(
        EACH_TIME,
        Map.of(
            "WEFT_VERBS_POOL_BYTES", "0",
            "WEFT_VERBS_CACHE_BYTES", "0"));
  }

  @Override
  public Prepared prepare(MeasuringPlan plan) {
    if (!name.equals(PerfFigures.WEFT) && plan.benchmark() != Benchmark.REGISTRATION) {
      throw new IllegalArgumentException(
          "peer %s has no %s; it has: registration".formatted(name, plan.benchmark().label()));
    }
    UsableTransport.require(plan.transport());
    if (plan.benchmark() == Benchmark.SENDRECV) {
      SendRecvRanks tasks = sendRecv(plan);
      return stage -> plan.report(tasks.underWeft(stage.limit(plan)));
    }
    Class<?> program = plan.benchmark().isCollective() ? PerfRank.class : LinkRank.class;
    LocalRanks ranks = new LocalRanks(program, plan.ranks(), directMemory(plan), settings);
    return stage -> {
      LocalRanks there = ranks.with(stage.variables());
      List<String> said =
          there.run(plan.transport(), plan.secure(), plan.arguments(), stage.limit(plan));
      return plan.report(said).named(name);
    };
  }

  /// Returns the two processes of `SENDRECV`, for either runtime. Throws `PerfException.Missing`.
  static SendRecvRanks sendRecv(MeasuringPlan plan) {
    return new SendRecvRanks(plan.transport(), plan.secure(), plan.arguments(), directMemory(plan));
  }

  /// Returns the size of input, output and staging of the largest case and of the transport's
  /// memory.
  private static long directMemory(MeasuringPlan plan) {
    return OVERHEAD_BYTES + 4 * plan.cases().stream().mapToLong(RankCase::bytes).max().orElse(0);
  }

  /// Returns the default memory of tensors, which the transport can access.
  static TensorMemory usualMemory(String scheme) {
    return sharesMemory(scheme) ? TensorMemory.OWN : TensorMemory.PRIVATE;
  }

  /// Returns whether ranks of one host can access each other's registered memory over this
  /// transport.
  static boolean sharesMemory(String scheme) {
    return anyDevice(scheme, Capabilities::directAccess);
  }

  /// Returns whether this transport reads and writes memory without the processor of the peer.
  static boolean isOneSided(String scheme) {
    return anyDevice(scheme, Capabilities::nativeOneSided);
  }

  /// Returns the default size of a payload inside messages of this transport, 0 if it is
  /// unavailable.
  static int eagerBytes(String scheme) {
    return capabilities(scheme).mapToInt(Capabilities::eagerBytes).max().orElse(0);
  }

  private static boolean anyDevice(String scheme, Predicate<Capabilities> fact) {
    return capabilities(scheme).anyMatch(fact);
  }

  private static Stream<Capabilities> capabilities(String scheme) {
    return providers()
        .filter(p -> p.scheme().equals(scheme))
        .map(TransportProvider::probe)
        .flatMap(p -> p instanceof Availability.Available there ? there.devices().stream() : null);
  }

  /// Returns the names of the devices that a transport would use here, empty if it is unavailable.
  static List<String> devices(String scheme) {
    return providers()
        .filter(p -> p.scheme().equals(scheme))
        .map(TransportProvider::probe)
        .flatMap(p -> p instanceof Availability.Available there ? there.devices().stream() : null)
        .map(Capabilities::device)
        .toList();
  }

  private static Stream<TransportProvider> providers() {
    return TransportProvider.all().stream();
  }
}
