// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.Weft;
import io.weft.cluster.LaunchEnvironment;
import io.weft.perf.rank.RankProgram;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// One process of a measurement with light clients: a server, or all workers. Each worker is a rank
/// with its own connections, request channel and thread, as it would be in a separate process. Only
/// the other costs of a process are shared.
public final class KvThreads {

  private KvThreads() {}

  /// Takes the plan's arguments. Exits with 0, with 1 if the job failed, with 2 for wrong
  /// arguments.
  public static void main(String[] words) {
    RankProgram.exit(words, KvThreads::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    KvPlan plan = KvPlan.parse(words);
    Map<String, String> environment = System.getenv();
    LaunchEnvironment process = LaunchEnvironment.detect(environment);
    if (process.rank() < plan.servers()) {
      take(process.rank(), plan, process, environment, out, new AtomicReference<>());
      return;
    }
    var reason = new AtomicReference<@Nullable RuntimeException>();
    ExecutorService threads =
        Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().name("weft-worker-", 0).factory());
    try {
      var ending = new ExecutorCompletionService<Boolean>(threads);
      for (int i = 0; i < plan.workers(); i++) {
        int rank = plan.servers() + i;
        var unused =
            ending.submit(
                () -> {
                  take(rank, plan, process, environment, out, reason);
                  return true;
                });
      }
      for (int i = 0; i < plan.workers(); i++) {
        var unused = ending.take().get();
      }
    } catch (ExecutionException failed) {
      RuntimeException first = reason.get();
      if (first != null) {
        throw first;
      }
      throw failed.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(String.valueOf(failed.getCause()), failed);
    } finally {
      threads.shutdownNow();
    }
  }

  /// @param process the launcher's environment, in which all workers are one rank
  /// @param reason the failure of the first rank, which causes failures of other ranks
  private static void take(
      int rank,
      KvPlan plan,
      LaunchEnvironment process,
      Map<String, String> environment,
      PrintStream out,
      AtomicReference<@Nullable RuntimeException> reason)
      throws InterruptedException {
    var launch =
        new LaunchEnvironment(
            process.launcher(),
            rank,
            plan.servers() + plan.workers(),
            OptionalInt.empty(),
            OptionalInt.empty(),
            process.job(),
            process.store());
    try (Weft weft = Weft.init(KvRank.settings(), launch, environment)) {
      try {
        KvRank.take(weft, plan, out);
      } catch (RuntimeException failed) {
        reason.compareAndSet(null, failed); // Before other ranks learn that this rank has left.
        throw failed;
      }
    }
  }
}
