// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.agent.Agent;
import io.weft.agent.AgentConfig;
import io.weft.agent.AgentRunner;
import io.weft.agent.AgentRunners;
import io.weft.agent.IdleStrategy;
import io.weft.cluster.Mesh;
import io.weft.cluster.Topology;
import io.weft.transport.limit.ClampedDuration;

/// The processors that the ranks of a host share. The idle strategies of the ranks' threads depend
/// on their number. Stateless.
final class ProcessorShare {

  private ProcessorShare() {}

  static AgentRunner runner(WeftConfig config, Mesh mesh, Agent agent, AgentRunners runners) {
    int threads = config.required(ThreadsConfig.PROGRESS_THREADS).threads().size();
    int polling = threads * mesh.transport().pollingThreads();
    int local = mesh.topology().localSize(mesh.rank()) * polling;
    int cores = localProcessors(mesh.topology(), mesh.rank());
    long spin = ClampedDuration.nanos(config.required(AgentConfig.CALLER_SPIN));
    IdleStrategy caller = IdleStrategy.forCaller(runners.ticker(), local, cores, spin);
    IdleStrategy own = IdleStrategy.forRunner(runners.ticker(), local, cores);
    if (config.spin().isPresent()) {
      caller = caller.spinning(config.spin().getAsInt());
      own = own.spinning(config.spin().getAsInt());
    }
    return runners.runner(agent, own, caller);
  }

  /// See `Weft.localProcessors`.
  static int localProcessors(Topology topology, int rank) {
    int here = Runtime.getRuntime().availableProcessors();
    int own = topology.members().get(rank).processors().count();
    return own > here ? here : Math.max(here, topology.processors(rank));
  }
}
