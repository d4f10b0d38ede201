// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.AgentRunners;
import io.weft.cluster.JobProcess;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.NodeEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.InMemoryStore;
import io.weft.cluster.store.SecretFile;
import io.weft.comm.CommException;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportProvider;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/// A job of several ranks in this process. The caller closes it, which ends all ranks.
public final class LocalJob implements AutoCloseable {

  private static final String JOB = "test";

  private final List<Weft> ranks;
  private final ExecutorService threads;
  private final Function<WeftConfig, Weft> late;

  private LocalJob(List<Weft> ranks, ExecutorService threads, Function<WeftConfig, Weft> late) {
    this.ranks = ranks;
    this.threads = threads;
    this.late = late;
  }

  /// The program of one rank.
  @FunctionalInterface
  public interface Body<T> {

    /// Runs on a separate thread.
    T run(Weft weft) throws Exception;
  }

  /// Starts a job of `size` ranks with equal settings and a random secret.
  public static LocalJob start(int size, WeftConfig config) {
    return start(
        size,
        config,
        (with, rank, store, secret) ->
            Weft.init(with, environment(rank, size), store, secret, JOB));
  }

  /// Starts a job over the transport of this scheme, with default settings.
  public static LocalJob over(String transport, int size) {
    return start(size, WeftConfig.builder().transport(transport).build());
  }

  /// Starts a job over this transport instead of one from the class path.
  public static LocalJob start(int size, WeftConfig config, TransportProvider transport) {
    JobProcess process = JobProcess.current();
    return start(size, config, surrounded(size, rank -> transport, rank -> process));
  }

  /// Starts a job over several hosts.
  ///
  /// @param hosts the host name of each rank
  /// @param transports the transport of each host name
  public static LocalJob across(
      List<String> hosts, WeftConfig config, Function<String, TransportProvider> transports) {
    Objects.requireNonNull(config, "config");
    Objects.requireNonNull(transports, "transports");
    JobProcess process = JobProcess.current();
    return start(
        hosts.size(),
        config,
        surrounded(
            hosts.size(),
            rank -> transports.apply(hosts.get(rank)),
            rank ->
                new JobProcess(
                    process.identity(), hosts.get(rank), process.boot(), process.processors())));
  }

  private static Joining surrounded(
      int size, IntFunction<TransportProvider> transport, IntFunction<JobProcess> process) {
    return (config, rank, store, secret) ->
        Weft.init(
            config,
            environment(rank, size),
            new NodeEnvironment(
                store,
                secret,
                JOB,
                config.bind().orElse("127.0.0.1"),
                transport.apply(rank),
                AgentRunners.THREADS,
                process.apply(rank)));
  }

  private static LocalJob start(int size, WeftConfig config, Joining joining) {
    ExecutorService threads = Executors.newCachedThreadPool();
    InMemoryStore store = new InMemoryStore();
    Secret secret = SecretFile.random();
    List<Weft> joined = new CopyOnWriteArrayList<>();
    try {
      List<Callable<Weft>> joins =
          IntStream.range(0, size)
              .<Callable<Weft>>mapToObj(
                  rank ->
                      () -> {
                        Weft weft = joining.join(config, rank, store, secret);
                        joined.add(weft);
                        return weft;
                      })
              .toList();
      List<Weft> ranks = new Bodies<>(threads, joins).results((rank, cause) -> {});
      return new LocalJob(ranks, threads, with -> joining.join(with, 0, store, secret));
    } catch (RuntimeException | Error refused) {
      new LocalJob(joined, threads, with -> joining.join(with, 0, store, secret)).close();
      throw refused;
    }
  }

  /// The way in which a rank joins.
  @FunctionalInterface
  private interface Joining {
    Weft join(WeftConfig config, int rank, Store store, Secret secret);
  }

  private static LaunchEnvironment environment(int rank, int size) {
    return new LaunchEnvironment(
        "testkit",
        rank,
        size,
        OptionalInt.empty(),
        OptionalInt.empty(),
        Optional.of(JOB),
        new StoreLocation.InProcess());
  }

  /// Returns the ranks, in order.
  public List<Weft> ranks() {
    return ranks;
  }

  /// Adds a process to this job while it runs; the caller closes it. Any thread may call it.
  ///
  /// @param config with the setting `join`
  public Weft join(WeftConfig config) {
    return late.apply(config);
  }

  /// Runs the body on all initial ranks at the same time and returns their results. Throws the
  /// first failure unchanged; the failures of other ranks are suppressed in it. If other bodies
  /// still run a second later, because they wait for the failed rank, that rank leaves the job and
  /// the others are interrupted. The job can then only be closed.
  public <T> List<T> run(Body<T> body) {
    Objects.requireNonNull(body, "body");
    List<Callable<T>> bodies = ranks.stream().<Callable<T>>map(w -> () -> body.run(w)).toList();
    return new Bodies<>(threads, bodies).results(this::abandon);
  }

  /// Ends a rank like a failed process, so that the others are notified.
  private void abandon(int rank, Throwable cause) {
    Weft weft = ranks.get(rank);
    try {
      String words = "the body of rank " + rank + " has thrown " + cause;
      weft.communicator().abort(new CommException.Aborted(words, rank, cause));
    } catch (IllegalStateException inNoEpoch) {
      cause.addSuppressed(inNoEpoch);
    }
    weft.close();
  }

  /// Ends all ranks. Throws the first exception after all have ended.
  @Override
  public void close() {
    List<Callable<Boolean>> closing =
        ranks.stream()
            .<Callable<Boolean>>map(
                w ->
                    () -> {
                      w.close();
                      return true;
                    })
            .toList();
    var unused = new Bodies<>(threads, closing).results((rank, cause) -> {});
    threads.shutdown();
  }
}
