// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.launch.process.LocalStart;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A running job: its ranks, the bootstrap store that they meet in, and its secret on disk. Ends
/// all of it on `close`, which also a signal to this process does. Started and awaited by one
/// thread, closed by any.
public final class Job implements AutoCloseable {

  /// How long the others have to say why they fail.
  private static final Duration GRACE = Duration.ofSeconds(3);

  /// How long ranks have to end that are asked to while all is well: they may have something to
  /// save.
  private static final Duration ASKED = Duration.ofSeconds(3);

  /// The same when the job has failed and they had time to say so.
  private static final Duration ASKED_AGAIN = Duration.ofSeconds(1);

  private static final Duration DRAIN = Duration.ofMillis(500);
  private static final Duration LOOK = Duration.ofMinutes(1);

  private final JobPlan plan;
  private final PrintStream out;
  private final PrintStream err;
  private final String mark = UUID.randomUUID().toString();
  private final List<RankProcess> ranks = new ArrayList<>();
  private final BlockingQueue<RankProcess> ended;

  /// Those that have ended without the job failing of them.
  private final List<RankProcess> settled = new ArrayList<>();

  private final ReentrantLock closing = new ReentrantLock();
  private final Thread onSignal = new Thread(this::interrupted, "weft-signal");
  private final LaunchDirectory directory;
  private final TcpStoreServer store;
  private volatile @Nullable JobFlights flights;
  private volatile @Nullable Map<Integer, String> endings;
  private volatile boolean signalled;
  private volatile Duration patience = ASKED;
  private boolean closed;

  private Job(
      JobPlan plan,
      LaunchDirectory directory,
      TcpStoreServer store,
      PrintStream out,
      PrintStream err) {
    this.plan = plan;
    this.directory = directory;
    this.store = store;
    this.out = out;
    this.err = err;
    this.ended = new ArrayBlockingQueue<>(plan.ranks().size());
  }

  /// Starts all ranks. The calling thread must live as long as the job. Throws `JobFailed` where a
  /// rank cannot be started, `CommException.Setup` where secret or store cannot be had.
  public static Job start(JobPlan plan, PrintStream out, PrintStream err) throws JobFailed {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    LaunchDirectory directory;
    try {
      directory = LaunchDirectory.create();
    } catch (IOException refused) {
      throw new JobFailed(
          "cannot keep the job's secret in a temporary directory: "
              + refused
              + openFiles.advice(refused),
          refused);
    }
    Job job;
    Secret secret;
    try {
      secret = SecretFile.find(plan.config(), System.getenv()).orElseGet(SecretFile::random);
      SecretFile.write(directory.secret(), secret);
      InetAddress address = LauncherAddress.of(plan);
      int port = LauncherAddress.port(plan);
      JobTrust trust = JobTrust.of(plan.config(), secret);
      job = new Job(plan, directory, TcpStoreServer.bind(address, port, trust), out, err);
    } catch (RuntimeException | JobFailed refused) {
      directory.close();
      throw refused;
    }
    Runtime.getRuntime().addShutdownHook(job.onSignal);
    try {
      job.startRanks(secret);
    } catch (IOException refused) {
      job.close();
      throw new JobFailed(
          "cannot start a rank: " + refused.getMessage() + openFiles.advice(refused), refused);
    }
    return job;
  }

  private void startRanks(Secret secret) throws IOException {
    var local = new LocalStart();
    var remote = new RemoteStart(plan.ssh());
    var variables = new RankVariables(plan, store.location(), mark);
    var logs = new JobFlights(plan, directory, store, variables.job());
    flights = logs;
    for (Placement placement : plan.ranks()) {
      closing.lock();
      try {
        if (closed) {
          return;
        }
        Process process;
        if (placement.isHere()) {
          process =
              local.start(
                  plan.command(),
                  variables.here(placement, directory.secret(), logs.directory()),
                  variables.removedHere(placement));
        } else {
          Path here = Path.of("").toAbsolutePath();
          process =
              remote.start(
                  placement.host(), here, plan.command(), variables.there(placement, secret));
        }
        RankProcess rank = RankProcess.of(placement, process, plan, out, err);
        ranks.add(rank);
        var unused = process.onExit().thenAccept(exited -> ended.add(rank));
      } finally {
        closing.unlock();
      }
    }
  }

  /// Waits until all ranks have ended well, or one has not and the others had time to say so and
  /// were ended. Returns 0, or the exit code of the rank that the job failed of. Ranks that are
  /// dispensable are lost without that; the job is done if one of them has ended well.
  public int await() throws InterruptedException {
    List<RankProcess> inOrder = new ArrayList<>();
    if (plan.dispensable().isEmpty()) {
      return await(inOrder);
    }
    var survival = new Survival(ranks, ended, plan, err);
    OptionalInt code = survival.await(() -> signalled);
    if (code.isPresent()) {
      close();
      return code.getAsInt();
    }
    settled.addAll(survival.settled());
    RankProcess failed = survival.indispensable();
    inOrder.add(failed);
    report(failed);
    return await(inOrder);
  }

  /// Waits for the others; not for ranks that are stopped when no other is left.
  ///
  /// @param inOrder a rank of which the job fails, or none; then all that have ended
  private int await(List<RankProcess> inOrder) throws InterruptedException {
    @Nullable RankProcess failed = inOrder.isEmpty() ? null : inOrder.getFirst();
    var stopped = new StoppedRanks(plan.config());
    long end = System.nanoTime() + GRACE.toNanos();
    while (inOrder.size() + settled.size() < plan.ranks().size()) {
      Duration look = inOrder.isEmpty() ? LOOK : StoppedRanks.LOOK;
      long left = failed == null ? look.toNanos() : end - System.nanoTime();
      RankProcess rank = ended.poll(left, TimeUnit.NANOSECONDS);
      if (rank == null && failed == null) {
        List<RankProcess> running = running(inOrder);
        if (inOrder.isEmpty() || !stopped.areAllThatIsLeft(running)) {
          continue;
        }
        failed = running.getFirst();
      }
      if (rank == null) {
        break;
      }
      inOrder.add(rank);
      rank.drain(DRAIN);
      if (failed == null && rank.status().code() != 0 && !signalled) {
        failed = rank;
        end = System.nanoTime() + GRACE.toNanos();
        report(failed);
      }
    }
    if (failed == null) {
      close();
      return 0;
    }
    return conclude(failed, inOrder);
  }

  private List<RankProcess> running(List<RankProcess> inOrder) {
    return ranks.stream()
        .filter(rank -> !inOrder.contains(rank) && !settled.contains(rank))
        .toList();
  }

  /// Says which rank the job failed of, which is not always the first that ended.
  private int conclude(RankProcess first, List<RankProcess> inOrder) {
    inOrder.addAll(running(inOrder));
    List<Culprit.Fate> fates = inOrder.stream().map(RankProcess::fate).toList();
    Culprit.Fate culprit = Culprit.of(fates);
    RankProcess named = inOrder.get(fates.indexOf(culprit));
    if (!named.equals(first) && culprit.status().isPresent()) {
      report(named);
    }
    endings = endings(fates);
    patience = ASKED_AGAIN;
    close();
    String what =
        culprit.status().map(ExitStatus::toString).orElse("it did not end by itself")
            + (culprit.stopped() ? ": it was stopped by a signal or a debugger" : "");
    err.println(
        "weft: the job failed: "
            + named.describe()
            + ": "
            + what
            + (plan.ranks().size() > 1 ? "; all other ranks have ended" : ""));
    int code = culprit.status().map(ExitStatus::code).orElse(0);
    return code != 0 ? code : first.status().code();
  }

  /// How the ranks ended that did so of their own accord.
  private static Map<Integer, String> endings(List<Culprit.Fate> fates) {
    var endings = new TreeMap<Integer, String>();
    for (Culprit.Fate fate : fates) {
      fate.status().ifPresent(status -> endings.put(fate.rank(), status.toString()));
      if (fate.stopped()) {
        endings.put(fate.rank(), "it was stopped by a signal or a debugger");
      }
    }
    return endings;
  }

  /// Ends what still runs, the store, and removes the secret. A second call has no effect.
  @Override
  public void close() {
    closing.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      new JobProcesses(mark, ranks.stream().map(RankProcess::process).toList()).end(patience);
      for (RankProcess rank : ranks) {
        rank.drain(DRAIN);
      }
      JobFlights logs = flights;
      Map<Integer, String> ends = endings;
      if (ends != null && logs != null && !signalled) {
        logs.judge(ends).forEach(line -> err.println("weft: " + line));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      store.close();
      directory.close();
      closing.unlock();
    }
    if (!Thread.currentThread().equals(onSignal)) {
      forgetSignal();
    }
  }

  private void forgetSignal() {
    try {
      Runtime.getRuntime().removeShutdownHook(onSignal);
    } catch (IllegalStateException shuttingDown) {
      // It runs already, and finds the job closed.
      assert closed;
    }
  }

  void interrupted() {
    signalled = true;
    err.println("weft: interrupted; ending " + plan.ranks().size() + " ranks");
    close();
  }

  private void report(RankProcess rank) {
    err.println("weft: " + rank.describe() + " failed: " + rank.status());
    List<String> last = rank.lastLines();
    if (!last.isEmpty()) {
      err.println("weft: its last output:");
      last.forEach(line -> err.println("  | " + line));
    }
  }
}
