// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.comm.CommException;
import io.weft.launch.process.CleanupShell;
import io.weft.launch.process.JobProcesses;
import io.weft.launch.process.LocalStart;
import io.weft.launch.process.OutputWriter;
import io.weft.launch.process.StandardOutput;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.limit.IoErrors;
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A running job: its ranks, its store, and its secret on disk. `close`, or a signal to this
/// process, ends all of it. One thread starts and awaits it; any thread may close it.
public final class LaunchedJob implements AutoCloseable {

  /// The time for other ranks to report why they fail.
  private static final Duration GRACE = Duration.ofSeconds(3);

  /// The time for ranks to end on request while the job has not failed; they may have to save data.
  private static final Duration ASKED = Duration.ofSeconds(3);

  /// The time for ranks to end on request after the job has failed and they had time to report.
  private static final Duration ASKED_AGAIN = Duration.ofSeconds(1);

  private static final Duration DRAIN = Duration.ofMillis(500);
  private static final Duration LOOK = Duration.ofMinutes(1);

  private static final Duration SHORTLY = Duration.ofMillis(10);

  /// The maximum time to end ranks that do not react.
  private static final Duration ENDING = Duration.ofSeconds(30);

  private static final Path STANDARD_OUTPUT = Path.of("/dev/stdout");

  private final JobPlan plan;
  private final OutputWriter out;
  private final OutputWriter said;

  /// The stream of messages, which never waits for its reader.
  private final PrintStream err;

  private final String mark;
  private final List<RankProcess> ranks = new ArrayList<>();
  private final BlockingQueue<RankProcess> ended;

  /// The ranks that have ended without failing the job.
  private final List<RankProcess> settled = new ArrayList<>();

  private final ReentrantLock closing = new ReentrantLock();
  private final Thread onSignal = new Thread(this::interrupted, "weft-signal");
  private final LaunchDirectory directory;
  private final TcpStoreServer store;
  private final CleanupShell watch;
  private final CountDownLatch over = new CountDownLatch(1);
  private @Nullable Starter starter;
  private volatile @Nullable JobFlights flights;
  private volatile @Nullable Map<Integer, String> termination;
  private volatile boolean signalled;
  private volatile boolean unread;
  private volatile boolean incomplete;
  private volatile Duration grace = ASKED;
  private boolean closed;

  private LaunchedJob(
      JobPlan plan,
      String mark,
      LaunchDirectory directory,
      TcpStoreServer store,
      PrintStream out,
      PrintStream err) {
    this.plan = plan;
    this.mark = mark;
    this.directory = directory;
    this.store = store;
    this.out = OutputWriter.start("weft-stdout", out, this::outputRefused);
    this.said = OutputWriter.start("weft-stderr", err, () -> {});
    this.err = said.messages();
    this.watch = CleanupShell.start(mark, Optional.of(directory.path()));
    this.ended = new LinkedBlockingQueue<>(); // each process is added once
  }

  /// Starts all ranks. The calling thread must live until the job has ended. Throws `JobFailed` if
  /// a rank cannot be started, and `CommException.Setup` if the secret, the store or the directory
  /// of flight files is not available.
  public static LaunchedJob start(JobPlan plan, PrintStream out, PrintStream err) throws JobFailed {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    // Slow steps precede the creation of objects that must be removed.
    InetAddress address = LauncherAddress.of(plan);
    int port = LauncherAddress.port(plan);
    Secret secret =
        SecretFile.find(plan.config(), RankVariables.outside()).orElseGet(SecretFile::random);
    String mark = UUID.randomUUID().toString();
    String identity = JobIdentity.ofName(RankVariables.job(plan, mark));
    JobTrust trust = JobTrust.of(plan.config(), secret, identity);
    LaunchDirectory directory;
    try {
      directory = LaunchDirectory.create();
    } catch (IOException refused) {
      throw new JobFailed(
          "cannot keep the job's secret in a temporary directory: "
              + IoErrors.words(refused)
              + openFiles.advice(refused),
          refused);
    }
    LaunchedJob job;
    try {
      SecretFile.write(directory.secret(), secret);
      job =
          new LaunchedJob(
              plan,
              mark,
              directory,
              TcpStoreServer.bind(address, port, trust, plan.config().startDeadline()),
              out,
              err);
    } catch (RuntimeException refused) {
      directory.close();
      throw refused;
    }
    Runtime.getRuntime().addShutdownHook(job.onSignal);
    try {
      job.startRanks(secret);
    } catch (IOException refused) {
      job.close();
      throw new JobFailed(
          "cannot start a rank: " + IoErrors.words(refused) + openFiles.advice(refused), refused);
    } catch (CommException.Setup refused) {
      job.close();
      throw refused;
    }
    return job;
  }

  private void startRanks(Secret secret) throws IOException {
    var logs =
        new JobFlights(
            plan, directory, store, new RankVariables(plan, store.location(), mark).job());
    flights = logs;
    starter = new Starter(secret, logs.directory());
    for (RankPlacement placement : plan.ranks()) {
      if (starter.start(placement, 0).isEmpty()) {
        return;
      }
    }
  }

  private final class Starter {
    private final LocalStart local = new LocalStart();
    private final RemoteStart remote = new RemoteStart(local, plan.ssh());
    private final RankVariables variables = new RankVariables(plan, store.location(), mark);
    private final Secret secret;
    private final Path flightDirectory;

    Starter(Secret secret, Path flightDirectory) {
      this.secret = secret;
      this.flightDirectory = flightDirectory;
    }

    /// Starts a rank. Returns empty if the job has been closed.
    ///
    /// @param start number of earlier starts of this rank
    Optional<RankProcess> start(RankPlacement placement, int start) throws IOException {
      RankProcess.Files files = RankProcess.Files.of(placement, start, plan, err);
      closing.lock();
      try {
        if (closed) {
          return Optional.empty();
        }
        Process process = process(placement, start > 0);
        RankProcess rank = RankProcess.of(placement, start, process, files, plan, out, said);
        ranks.add(rank);
        watch.began(process.pid());
        var unused =
            process
                .onExit()
                .thenAccept(
                    exited -> {
                      ended.add(rank);
                      watch.ended(process.pid());
                    });
        return Optional.of(rank);
      } finally {
        closing.unlock();
      }
    }

    private Process process(RankPlacement placement, boolean joins) throws IOException {
      Map<String, String> environment =
          new HashMap<>(
              placement.isHere()
                  ? variables.here(placement, directory.secret(), flightDirectory)
                  : variables.there(placement, secret));
      if (joins) {
        environment.put(RankVariables.JOIN, "true");
      }
      return placement.isHere()
          ? local.start(plan.command(), environment, variables.removedHere(placement))
          : remote.start(
              placement.host(), Path.of("").toAbsolutePath(), plan.command(), environment);
    }
  }

  private Optional<RankProcess> again(RankProcess lost) {
    JobPlan.Restarts restarts = plan.losses().restarts();
    Starter starts = starter;
    if (starts == null || !restarts.ranks().contains(lost.rank())) {
      return Optional.empty();
    }
    if (lost.start() >= restarts.most()) {
      err.println(
          "weft: rank %d is not started again: it was %d times (--restarts)"
              .formatted(lost.rank(), lost.start()));
      return Optional.empty();
    }
    int start = lost.start() + 1;
    err.println(
        "weft: starting rank %d again (%d of %d); it joins the job as one more rank"
            .formatted(lost.rank(), start, restarts.most()));
    try {
      return starts.start(plan.ranks().get(lost.rank()), start);
    } catch (IOException refused) {
      return notAgain(lost, IoErrors.words(refused));
    } catch (CommException.Setup refused) {
      return notAgain(lost, String.valueOf(refused.getMessage()));
    }
  }

  private Optional<RankProcess> notAgain(RankProcess lost, String why) {
    err.println("weft: cannot start rank " + lost.rank() + " again: " + why);
    return Optional.empty();
  }

  /// Waits until all ranks have succeeded, or one has failed and the others had time to report and
  /// were ended. Returns 0, or the exit code of the rank that failed the job. The loss of a
  /// dispensable rank does not fail the job, which is done if one of them has succeeded. Returns 1
  /// if the ranks were ended because the reader of their output has gone, or if output was lost.
  /// Like any program, it waits for the reader of its output.
  public int await() throws InterruptedException {
    int code = outcome();
    out.drain(DRAIN);
    said.drain(DRAIN);
    return code == 0 && (unread || incomplete) ? 1 : code;
  }

  private int outcome() throws InterruptedException {
    List<RankProcess> inOrder = new ArrayList<>();
    if (plan.losses().dispensable().isEmpty()) {
      return await(inOrder);
    }
    var elasticWait = new ElasticWait(ranks, ended, plan, this::again, err);
    OptionalInt code = elasticWait.await(() -> signalled || unread, () -> over.getCount() == 0);
    if (code.isPresent()) {
      end();
      return code.getAsInt();
    }
    settled.addAll(elasticWait.settled());
    RankProcess failed = elasticWait.indispensable();
    inOrder.add(failed);
    report(failed);
    return await(inOrder);
  }

  /// Waits for the other ranks, except stopped ones when no other is left.
  ///
  /// @param inOrder the rank that failed the job, or empty; receives all ranks in the order of
  ///   their ends
  private int await(List<RankProcess> inOrder) throws InterruptedException {
    @Nullable RankProcess failed = inOrder.isEmpty() ? null : inOrder.getFirst();
    var stopped = new StoppedRanks(plan.config());
    long end = System.nanoTime() + ClampedDuration.nanos(GRACE);
    while (inOrder.size() + settled.size() < ranks.size()) {
      Duration look = inOrder.isEmpty() ? LOOK : StoppedRanks.LOOK;
      long left = failed == null ? ClampedDuration.nanos(look) : end - System.nanoTime();
      RankProcess rank = ended.poll(left, TimeUnit.NANOSECONDS);
      if (rank == null && over.getCount() == 0) {
        break;
      }
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
      if (failed == null && rank.status().code() != 0 && !signalled && !unread) {
        failed = rank;
        end = System.nanoTime() + ClampedDuration.nanos(GRACE);
        report(failed);
      }
    }
    if (failed == null) {
      end();
      return 0;
    }
    return conclude(failed, inOrder);
  }

  private List<RankProcess> running(List<RankProcess> inOrder) {
    return ranks.stream()
        .filter(rank -> !inOrder.contains(rank) && !settled.contains(rank))
        .toList();
  }

  /// Reports the rank that failed the job, which is not always the first that ended.
  private int conclude(RankProcess first, List<RankProcess> inOrder) {
    inOrder.addAll(running(inOrder));
    List<Culprit.Fate> fates = inOrder.stream().map(RankProcess::fate).toList();
    Culprit.Fate culprit = Culprit.of(fates);
    RankProcess named = inOrder.get(fates.indexOf(culprit));
    if (!named.equals(first) && culprit.status().isPresent()) {
      report(named);
    }
    termination = termination(fates);
    grace = ASKED_AGAIN;
    end();
    String what =
        culprit
                .status()
                .map(s -> s.code() == 0 ? "it ended while others waited for it" : s.toString())
                .orElse("it did not end by itself")
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

  /// Returns the ends of ranks that ended by themselves, in words.
  private static Map<Integer, String> termination(List<Culprit.Fate> fates) {
    var termination = new TreeMap<Integer, String>();
    for (Culprit.Fate fate : fates) {
      fate.status().ifPresent(status -> termination.put(fate.rank(), status.toString()));
      if (fate.stopped()) {
        termination.put(fate.rank(), "it was stopped by a signal or a debugger");
      }
    }
    return termination;
  }

  /// Ends the remaining ranks and the store, removes the secret, and lets the output arrive. A
  /// second call waits for the first.
  @Override
  public void close() {
    end();
    try {
      out.drain(DRAIN);
      said.drain(DRAIN);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    out.close();
    said.close();
    if (!Thread.currentThread().equals(onSignal)) {
      forgetSignal();
    }
  }

  /// Ends ranks and store and removes the secret, and then prints messages. Returns true if this
  /// call did so.
  private boolean end() {
    if (!claim()) {
      awaitEnd();
      return false;
    }
    boolean asked = signalled || unread;
    JobFlights logs = flights;
    Map<Integer, String> ends = termination;
    try {
      endRanks();
      watch.close();
    } finally {
      store.close();
      directory.removeSecret();
      over.countDown();
    }
    try {
      drain();
      if (ends != null && logs != null && !asked) {
        logs.judge(ends).forEach(line -> err.println("weft: " + line));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      directory.close();
    }
    return true;
  }

  private boolean claim() {
    closing.lock();
    try {
      boolean first = !closed;
      closed = true;
      return first;
    } finally {
      closing.unlock();
    }
  }

  private void awaitEnd() {
    try {
      var unused = over.await(ClampedDuration.millis(ENDING), TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Ends the ranks. If this thread is interrupted, it kills them at once.
  private void endRanks() {
    var all = new JobProcesses(mark, ranks.stream().map(RankProcess::process).toList());
    try {
      all.end(grace);
    } catch (InterruptedException hurried) {
      all.kill();
      Thread.currentThread().interrupt();
    }
  }

  /// Waits for the ranks' output for a limited time, because their descendants may keep the streams
  /// open.
  private void drain() throws InterruptedException {
    long end = System.nanoTime() + ClampedDuration.nanos(DRAIN);
    for (RankProcess rank : ranks) {
      while (rank.speaks(SHORTLY) && System.nanoTime() - end < 0) {
        if (out.isAwaited() || said.isAwaited()) {
          end = System.nanoTime() + ClampedDuration.nanos(DRAIN);
        }
      }
      rank.drain(Duration.ZERO);
    }
  }

  private void forgetSignal() {
    try {
      Runtime.getRuntime().removeShutdownHook(onSignal);
    } catch (IllegalStateException shuttingDown) {
      // The hook is running, and finds the job closed.
      assert closed;
    }
  }

  void interrupted() {
    signalled = true;
    out.hurry();
    said.hurry();
    err.println("weft: interrupted; ending " + count());
    if (!end()) {
      directory.close();
    }
    close();
  }

  /// Reacts to a refusal of standard output: its reader has gone, or its disk is full.
  private void outputRefused() {
    if (Files.isRegularFile(STANDARD_OUTPUT)) {
      incomplete = true;
      err.println(
          "weft: cannot write to standard output: "
              + StandardOutput.reason()
              + "; the job goes on, but further output there is lost");
      return;
    }
    if (over.getCount() > 0) {
      unread = true;
      err.println(
          "weft: standard output takes nothing more, since its reader has gone or its disk is full;"
              + " ending "
              + count());
      end();
    }
  }

  private String count() {
    int size = plan.ranks().size();
    return size == 1 ? "1 rank" : size + " ranks";
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
