// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Agent;
import io.weft.agent.AgentRunner;
import io.weft.agent.AgentRunners;
import io.weft.agent.IdleStrategy;
import io.weft.agent.Ticker;
import io.weft.cluster.JobProcess;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.NodeEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.InMemoryStore;
import io.weft.cluster.store.SecretFile;
import io.weft.comm.CommException;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A job inside this process whose ranks can be killed: their connections break without a good-bye.
final class MortalJob implements AutoCloseable {

  private static final int LIMIT_SECONDS = 50;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<Integer, Weft> ranks = new ConcurrentHashMap<>();
  private final Set<Integer> doomed = ConcurrentHashMap.newKeySet();
  private final InMemoryStore store = new InMemoryStore();
  private final Secret secret;
  private final int size;

  /// The program of one rank.
  @FunctionalInterface
  interface Body<T> {
    T run(Weft weft) throws Exception;
  }

  MortalJob(int size, WeftConfig config) throws Exception {
    this.size = size;
    secret = SecretFile.random();
    List<Callable<Weft>> starts = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      LaunchEnvironment launch = environment(rank, size);
      NodeEnvironment around = around(config, rank, secret);
      starts.add(() -> ranks.put(launch.rank(), Weft.init(config, launch, around)));
    }
    List<Future<Weft>> started = new ArrayList<>();
    starts.forEach(start -> started.add(threads.submit(start)));
    for (Future<Weft> start : started) {
      start.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }
  }

  private NodeEnvironment around(WeftConfig config, int place, Secret proof) {
    return new NodeEnvironment(
        store,
        proof,
        "test",
        "127.0.0.1",
        provider(config.transport()),
        runners(place),
        JobProcess.current());
  }

  /// Adds a process to the running job.
  ///
  /// @param rank the rank that the process will get
  /// @param config a configuration with the setting `join`
  Weft join(int rank, WeftConfig config) {
    return join(rank, config, secret);
  }

  /// Adds a process that may have another job's secret.
  Weft join(int rank, WeftConfig config, Secret proof) {
    Weft late = Weft.init(config, environment(0, size), around(config, rank, proof));
    ranks.put(late.rank(), late);
    return late;
  }

  /// Returns the store in which the ranks meet.
  InMemoryStore store() {
    return store;
  }

  static LaunchEnvironment environment(int rank, int size) {
    return new LaunchEnvironment(
        "test",
        rank,
        size,
        OptionalInt.of(rank),
        OptionalInt.of(size),
        Optional.of("test"),
        new StoreLocation.InProcess());
  }

  static TransportProvider provider(String scheme) {
    return TransportProvider.find(scheme).orElseThrow();
  }

  private AgentRunners runners(int rank) {
    return new AgentRunners() {
      @Override
      public Ticker ticker() {
        return AgentRunners.THREADS.ticker();
      }

      @Override
      public AgentRunner runner(Agent agent, IdleStrategy own, IdleStrategy caller) {
        return AgentRunners.THREADS.runner(new Mortal(agent, rank), own, caller);
      }
    };
  }

  Weft rank(int rank) {
    return ranks.get(rank);
  }

  /// Kills a rank at once. Its own operations fail, too.
  void kill(int rank) {
    doomed.add(rank);
    ranks.remove(rank);
  }

  /// Runs the body on all live ranks at once and returns their results by ascending rank. Throws
  /// the first failure, with the others as suppressed exceptions.
  <T> List<T> run(Body<T> body) throws Exception {
    List<Future<T>> futures = new ArrayList<>();
    ranks.keySet().stream()
        .sorted()
        .map(ranks::get)
        .forEach(weft -> futures.add(threads.submit(() -> body.run(weft))));
    List<T> results = new ArrayList<>();
    List<ExecutionException> failures = new ArrayList<>();
    for (Future<T> future : futures) {
      try {
        results.add(future.get(LIMIT_SECONDS, TimeUnit.SECONDS));
      } catch (ExecutionException e) {
        failures.add(e);
      }
    }
    if (!failures.isEmpty()) {
      ExecutionException first = failures.removeFirst();
      failures.forEach(first::addSuppressed);
      throw first.getCause() instanceof CommException cause && failures.isEmpty() ? cause : first;
    }
    return results;
  }

  /// Runs one rank's body in the background.
  <T> Future<T> start(int rank, Body<T> body) {
    Weft weft = ranks.get(rank);
    return threads.submit(() -> body.run(weft));
  }

  @Override
  public void close() {
    List<Future<?>> closing = new ArrayList<>();
    ranks.values().forEach(weft -> closing.add(threads.submit(weft::close)));
    for (Future<?> end : closing) {
      try {
        end.get(LIMIT_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException | ExecutionException | TimeoutException e) {
        throw new IllegalStateException("a rank did not close", e);
      }
    }
    threads.shutdownNow();
  }

  /// An agent that throws from its duty cycle once its rank is killed, upon which the progress
  /// thread closes the transport.
  private final class Mortal implements Agent {

    private final Agent agent;
    private final int rank;

    Mortal(Agent agent, int rank) {
      this.agent = agent;
      this.rank = rank;
    }

    @Override
    public int work(long nowNanos) {
      if (doomed.contains(rank)) {
        throw new CommException.Setup("rank " + rank + " dies as the test wants it", null);
      }
      return agent.work(nowNanos);
    }

    @Override
    public String role() {
      return agent.role();
    }

    @Override
    public void await(long maxNanos) {
      agent.await(maxNanos);
    }

    @Override
    public void wake() {
      agent.wake();
    }

    @Override
    public boolean busy() {
      return agent.busy();
    }

    @Override
    public boolean hasCommands() {
      return agent.hasCommands();
    }

    @Override
    public void crash(Throwable cause) {
      agent.crash(cause);
    }

    @Override
    public void close() {
      agent.close();
    }
  }
}
