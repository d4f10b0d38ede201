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

/// A job of several ranks in this process. Owned; `close` ends all ranks.
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

  /// What one rank does.
  @FunctionalInterface
  public interface Body<T> {

    /// Runs on a thread of its own.
    T run(Weft weft) throws Exception;
  }

  /// Starts a job of `size` ranks with the same settings and a random secret.
  public static LocalJob start(int size, WeftConfig config) {
    return start(
        size,
        config,
        (with, rank, store, secret) ->
            Weft.init(with, environment(rank, size), store, secret, JOB));
  }

  /// The same over the transport of this scheme, with all else as it is.
  public static LocalJob over(String transport, int size) {
    return start(size, WeftConfig.builder().transport(transport).build());
  }

  /// The same over a transport that is given, not looked for on the class path.
  public static LocalJob start(int size, WeftConfig config, TransportProvider transport) {
    JobProcess process = JobProcess.current();
    return start(size, config, surrounded(size, rank -> transport, rank -> process));
  }

  /// The same over several hosts.
  ///
  /// @param hosts name of the host that rank r says it runs on
  /// @param transports what ranks of a host of this name open
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

  /// How a rank joins.
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

  /// The ranks, in order.
  public List<Weft> ranks() {
    return ranks;
  }

  /// One more process of this job, while it runs; the caller closes it. Any thread.
  ///
  /// @param config with the setting `join`
  public Weft join(WeftConfig config) {
    return late.apply(config);
  }

  /// Runs the body on all ranks that began the job at once and returns what each brought. Throws
  /// the failure that came first, as it was; those of other ranks are suppressed in it. Where other
  /// bodies still run a second later, as they wait for the rank whose body has thrown, that rank
  /// leaves the job and the others are interrupted: then the job can only be closed.
  public <T> List<T> run(Body<T> body) {
    Objects.requireNonNull(body, "body");
    List<Callable<T>> bodies = ranks.stream().<Callable<T>>map(w -> () -> body.run(w)).toList();
    return new Bodies<>(threads, bodies).results(this::abandon);
  }

  /// A rank ends as a process that has failed: the others hear of it.
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

  /// Ends all ranks. Throws what one throws, when all have ended.
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
