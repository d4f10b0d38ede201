// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.JobProcess;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.NodeEnvironment;
import io.weft.cluster.Processors;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.testkit.sim.network.Network;
import io.weft.testkit.sim.network.SimProvider;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.random.RandomGenerator;

/// A process in a simulation, as its program sees it.
final class Participant<T> implements SimRank {

  private static final String JOB = "simulated";

  private final SimRun<T> world;
  private final SimProcess process;
  private final RandomGenerator random;
  private final Store store;

  Participant(SimRun<T> world, SimProcess process, SimFault.Memory memory, RandomGenerator random) {
    this.world = world;
    this.process = process;
    this.random = random;
    this.store =
        switch (memory) {
          case NOTHING -> world.store().of(process);
          case FIRST_TOPOLOGY -> world.store().rememberedBy(process);
        };
  }

  @Override
  public int rank() {
    return process.rank();
  }

  @Override
  public int size() {
    return world.terms().ranks();
  }

  @Override
  public int incarnation() {
    return process.incarnation();
  }

  @Override
  public int host() {
    return process.host();
  }

  @Override
  public Weft join() {
    return join(world.terms().config());
  }

  @Override
  public Weft join(WeftConfig config) {
    String host = Network.hostName(process.host());
    Weft joined =
        Weft.init(
            config,
            new LaunchEnvironment(
                "simulation",
                process.rank(),
                size(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                Optional.of(JOB),
                new StoreLocation.InProcess()),
            new NodeEnvironment(
                store,
                world.secret(),
                JOB,
                host,
                new SimProvider(world.network(), process),
                process,
                new JobProcess(
                    process.rank() + "." + process.incarnation(), host, "", Processors.UNKNOWN)));
    joined.observe(world.wording());
    process.joined(joined);
    return joined;
  }

  @Override
  public void compute(Duration time) {
    long end = process.events().now() + ClampedDuration.nanos(time);
    while (process.events().now() < end) {
      process.block(end);
    }
  }

  @Override
  public Duration now() {
    return Duration.ofNanos(process.events().now());
  }

  @Override
  public RandomGenerator random() {
    return random;
  }
}
