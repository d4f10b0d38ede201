// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.link.LinkRank;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.UsableTransport;
import io.weft.perf.rank.PerfRank;
import io.weft.perf.sendrecv.SendRecvRanks;
import io.weft.transport.Capabilities;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportProvider;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Weft itself: ranks of this build on this host, each a JVM of its own.
///
/// @param name of this contestant
/// @param settings of its ranks, by variables of the environment
record WeftPeer(String name, Map<String, String> settings) implements MeasuredPeer {

  /// Weft that keeps no memory registered.
  static final String EACH_TIME = "each-time";

  private static final long OVERHEAD_BYTES = 1L << 30;

  WeftPeer {
    settings = Map.copyOf(settings);
  }

  /// As its settings are.
  WeftPeer() {
    this(Measurement.WEFT, Map.of());
  }

  /// The same, but each region is registered with the RDMA device by itself.
  static WeftPeer eachTime() {
    return new WeftPeer(
        EACH_TIME,
        Map.of(
            "WEFT_VERBS_POOL_BYTES", "0",
            "WEFT_VERBS_CACHE_BYTES", "0"));
  }

  @Override
  public Contestant prepare(MeasuringPlan plan) {
    if (!name.equals(Measurement.WEFT) && plan.benchmark() != Benchmark.REGISTRATION) {
      throw new IllegalArgumentException(
          "peer %s has no %s; it has: registration".formatted(name, plan.benchmark().label()));
    }
    UsableTransport.require(plan.transport());
    if (plan.benchmark() == Benchmark.SENDRECV) {
      SendRecvRanks tasks = sendRecv(plan);
      return stage -> RankReport.parse(tasks.underWeft(stage.limit(plan)), plan);
    }
    Class<?> program = plan.benchmark().isCollective() ? PerfRank.class : LinkRank.class;
    LocalRanks ranks = new LocalRanks(program, plan.ranks(), directMemory(plan), settings);
    return stage -> {
      LocalRanks there = ranks.with(stage.variables());
      List<String> said =
          there.run(plan.transport(), plan.secure(), plan.arguments(), stage.limit(plan));
      return RankReport.parse(said, plan).named(name);
    };
  }

  /// The two processes of `SENDRECV`, under either runtime. Throws `PerfException.Missing`.
  static SendRecvRanks sendRecv(MeasuringPlan plan) {
    return new SendRecvRanks(
        plan.transport(), plan.secure(), plan.sendRecvArguments(), directMemory(plan));
  }

  /// Input, output and staging of the largest case, and what the transport keeps.
  private static long directMemory(MeasuringPlan plan) {
    return OVERHEAD_BYTES
        + 4 * plan.cases().stream().mapToLong(MeasuringPlan.PlannedCase::bytes).max().orElse(0);
  }

  /// Where tensors lie unless the user says otherwise: where the transport can work on them.
  static TensorMemory usualMemory(String scheme) {
    return sharesMemory(scheme) ? TensorMemory.OWN : TensorMemory.PRIVATE;
  }

  /// Whether this transport lets ranks of one host reach each other's registered memory.
  static boolean sharesMemory(String scheme) {
    return anyDevice(scheme, Capabilities::directAccess);
  }

  /// Whether this transport reads and writes memory without the processor of the peer.
  static boolean isOneSided(String scheme) {
    return anyDevice(scheme, Capabilities::nativeOneSided);
  }

  /// What travels inside messages of this transport, unless told otherwise; 0 = it is not here.
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

  /// The devices that a transport would use here, in its own words; none where it cannot be used.
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
