// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.Agent;
import io.weft.agent.AgentRunner;
import io.weft.agent.Ticker;
import io.weft.cluster.watch.Heartbeat;
import io.weft.transport.Address;
import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.IntFunction;

/// The progress threads of one rank. Each runs a separate mesh with its own transport, endpoints,
/// tokens, heartbeats and assigned services. They share only the reports of lost ranks, so a
/// service that keeps its thread busy does not delay a service on another thread (ADR 0083). Owned
/// by the thread that joins the job, and by the one that closes it.
public final class ProgressThreads implements AutoCloseable {

  private final List<Mesh> meshes;
  private final Map<MeshService, Integer> threads;
  private final List<AgentRunner> runners = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  private ProgressThreads(List<Mesh> meshes, Map<MeshService, Integer> threads) {
    this.meshes = meshes;
    this.threads = threads;
  }

  /// Opens a transport for each thread. Closes them all if one cannot be opened.
  ///
  /// @param services the services of each thread, at least one thread
  /// @param open opens the transport of the thread with this number for a sink
  public static ProgressThreads open(
      int rank,
      Ticker ticker,
      Heartbeat heartbeat,
      List<List<MeshService>> services,
      IntFunction<Function<FrameSink, Transport>> open) {
    List<Mesh> meshes = new ArrayList<>();
    Map<MeshService, Integer> threads = new HashMap<>();
    try {
      for (int thread = 0; thread < services.size(); thread++) {
        List<MeshService> its = services.get(thread);
        meshes.add(new Mesh(rank, ticker, heartbeat, its, open.apply(thread)));
        for (MeshService service : its) {
          threads.put(service, thread);
        }
      }
    } catch (RuntimeException | Error refused) {
      meshes.forEach(Mesh::close); // each ends alone, because they are not grouped yet
      throw refused;
    }
    List<Mesh> all = List.copyOf(meshes);
    for (int thread = 0; thread < all.size(); thread++) {
      all.get(thread).isOneOf(all, thread);
    }
    return new ProgressThreads(all, threads);
  }

  /// The listening addresses of the transports, in the order of the threads.
  public List<Address> addresses() {
    return meshes.stream().map(mesh -> mesh.transport().address()).toList();
  }

  /// Connects all meshes with all ranks, sequentially, each within the deadline, or lets them
  /// connect on first use; see `Mesh.connect`. The caller must `abandon` this object if the call
  /// throws.
  public void connect(Topology members, Connections connections, Duration deadline) {
    for (Mesh mesh : meshes) {
      mesh.connect(members, connections, deadline);
    }
  }

  /// Joins a running job with all meshes, sequentially, each within the deadline; see `Mesh.enter`.
  /// The caller must `abandon` this object if the call throws.
  public void enter(Topology members, Duration deadline) {
    for (Mesh mesh : meshes) {
      mesh.enter(members, deadline);
    }
  }

  /// Number of connections made, on all threads. Any thread.
  public int connections() {
    return meshes.stream().mapToInt(Mesh::connections).sum();
  }

  /// Closes all meshes, before `start`.
  public void abandon() {
    meshes.forEach(Mesh::close);
    Mesh.endAll(meshes);
  }

  /// Creates the runner of each mesh. The runners are idle until `start`.
  public void runBy(Function<Agent, AgentRunner> runner) {
    for (Mesh mesh : meshes) {
      runners.add(runner.apply(mesh));
    }
  }

  /// Starts all runners.
  public void start() {
    runners.forEach(AgentRunner::start);
  }

  /// Returns the mesh of the thread to which the service is assigned.
  public Mesh mesh(MeshService service) {
    return meshes.get(thread(service));
  }

  /// Returns the runner of that thread, after `runBy`.
  public AgentRunner runner(MeshService service) {
    return runners.get(thread(service));
  }

  private int thread(MeshService service) {
    Integer thread = threads.get(service);
    if (thread == null) {
      throw new IllegalArgumentException("service " + service.id() + " is on no progress thread");
    }
    return thread;
  }

  /// Payload and protocol bytes sent to other ranks, on all threads. Any thread.
  public long bytesSent() {
    return meshes.stream().mapToLong(mesh -> mesh.transport().bytesSent()).sum();
  }

  /// Returns the sum over all transports of a counter (`Transport.counters`). Any thread.
  public long counter(String name) {
    return meshes.stream()
        .mapToLong(mesh -> mesh.transport().counters().getOrDefault(name, 0L))
        .sum();
  }

  /// Returns whether the calling thread is inside one of the agents, as in a callback.
  public boolean isInside() {
    return runners.stream().anyMatch(AgentRunner::isInside);
  }

  /// Ends all threads, then says goodbye on all meshes at once and waits at most two seconds for
  /// the goodbyes of the other ranks. A second call has no effect. Throws `IllegalStateException`
  /// inside one of the agents, before any has ended.
  @Override
  public void close() {
    for (AgentRunner runner : runners) {
      if (runner.isInside()) {
        runner.close(); // throws
      }
    }
    if (closed.compareAndSet(false, true)) {
      runners.forEach(AgentRunner::close);
      Mesh.endAll(meshes);
    }
  }
}
