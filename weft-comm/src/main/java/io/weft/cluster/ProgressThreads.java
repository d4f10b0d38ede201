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

/// The progress threads of one rank. Each turns a mesh of its own, with a transport, endpoints,
/// tokens, heartbeats and the services that are assigned to it. They share nothing but the news of
/// who is lost, so a service that keeps its thread busy delays none on another (ADR 0083). Owned by
/// the thread that joins the job, and by the one that closes it.
public final class ProgressThreads implements AutoCloseable {

  private final List<Mesh> meshes;
  private final Map<MeshService, Integer> threads;
  private final List<AgentRunner> runners = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  private ProgressThreads(List<Mesh> meshes, Map<MeshService, Integer> threads) {
    this.meshes = meshes;
    this.threads = threads;
  }

  /// Opens a transport for each thread; closes them all if one cannot be opened.
  ///
  /// @param services of each thread, at least one thread
  /// @param open opens the transport of the thread of this number for a sink
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
      meshes.forEach(Mesh::close); // each ends alone, as it is one of no others yet
      throw refused;
    }
    List<Mesh> all = List.copyOf(meshes);
    for (int thread = 0; thread < all.size(); thread++) {
      all.get(thread).isOneOf(all, thread);
    }
    return new ProgressThreads(all, threads);
  }

  /// Where their transports listen, in their order.
  public List<Address> addresses() {
    return meshes.stream().map(mesh -> mesh.transport().address()).toList();
  }

  /// Connects all of them with all ranks, one after the other, each within the deadline, or lets
  /// them connect when they are used; see `Mesh.connect`. `abandon` them if it throws.
  public void connect(Topology members, Connections connections, Duration deadline) {
    for (Mesh mesh : meshes) {
      mesh.connect(members, connections, deadline);
    }
  }

  /// Joins a job that runs, with all of them, one after the other, each within the deadline; see
  /// `Mesh.enter`. `abandon` them if it throws.
  public void enter(Topology members, Duration deadline) {
    for (Mesh mesh : meshes) {
      mesh.enter(members, deadline);
    }
  }

  /// How many connections were made so far, on all of them. Any thread.
  public int connections() {
    return meshes.stream().mapToInt(Mesh::connections).sum();
  }

  /// Closes all, before `start`.
  public void abandon() {
    meshes.forEach(Mesh::close);
    Mesh.endAll(meshes);
  }

  /// Makes the runner of each; they do not turn before `start`.
  public void runBy(Function<Agent, AgentRunner> runner) {
    for (Mesh mesh : meshes) {
      runners.add(runner.apply(mesh));
    }
  }

  /// Begins to turn all.
  public void start() {
    runners.forEach(AgentRunner::start);
  }

  /// Of the thread to which the service is assigned.
  public Mesh mesh(MeshService service) {
    return meshes.get(thread(service));
  }

  /// Of the same thread, after `runBy`.
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

  /// Payload and protocol bytes sent to other ranks so far, by all. Any thread.
  public long bytesSent() {
    return meshes.stream().mapToLong(mesh -> mesh.transport().bytesSent()).sum();
  }

  /// Whether the calling thread is inside one of them, as in a callback.
  public boolean isInside() {
    return runners.stream().anyMatch(AgentRunner::isInside);
  }

  /// Ends all threads; then says good-bye on all meshes at once, and waits at most two seconds for
  /// those of the others. A second call has no effect. Throws `IllegalStateException` inside one of
  /// them, before any has ended.
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
