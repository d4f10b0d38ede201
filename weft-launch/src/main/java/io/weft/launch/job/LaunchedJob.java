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
import io.weft.transport.limit.OpenFiles;
import io.weft.transport.limit.Refusal;
import io.weft.transport.limit.Span;
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

/// A running job: its ranks, the job's store that they meet in, and its secret on disk. Ends all of
/// it on `close`, which also a signal to this process does. Started and awaited by one thread,
/// closed by any.
public final class LaunchedJob implements AutoCloseable {

  /// How long the others have to say why they fail.
  private static final Duration GRACE = Duration.ofSeconds(3);

  /// How long ranks have to end that are asked to while all is well: they may have something to
  /// save.
  private static final Duration ASKED = Duration.ofSeconds(3);

  /// The same when the job has failed and they had time to say so.
  private static final Duration ASKED_AGAIN = Duration.ofSeconds(1);

  private static final Duration DRAIN = Duration.ofMillis(500);
  private static final Duration LOOK = Duration.ofMinutes(1);

  private static final Duration SHORTLY = Duration.ofMillis(10);

  /// As long as ending ranks takes at most that do not want to.
  private static final Duration ENDING = Duration.ofSeconds(30);

  private static final Path STANDARD_OUTPUT = Path.of("/dev/stdout");

  private final JobPlan plan;
  private final OutputWriter out;
  private final OutputWriter said;

  /// Never waits for whoever reads it.
  private final PrintStream err;

  private final String mark;
  private final List<RankProcess> ranks = new ArrayList<>();
  private final BlockingQueue<RankProcess> ended;

  /// Those that have ended without the job failing of them.
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
    this.ended = new LinkedBlockingQueue<>(); // each process comes once
  }

  /// Starts all ranks. The calling thread must live as long as the job. Throws `JobFailed` where a
  /// rank cannot be started, `CommException.Setup` where secret, store or the place of the flight
  /// files cannot be had.
  public static LaunchedJob start(JobPlan plan, PrintStream out, PrintStream err) throws JobFailed {
    OpenFiles openFiles = OpenFiles.ofThisProcess();
    // What may take its time comes before anything is made that has to be removed.
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
              + Refusal.words(refused)
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
          "cannot start a rank: " + Refusal.words(refused) + openFiles.advice(refused), refused);
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

  /// Starts processes of ranks.
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

    /// Empty where the job has been closed.
    ///
    /// @param start how often it was started before
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

  /// Starts a rank again that was lost, if the plan says so.
  private Optional<RankProcess> again(RankProcess lost) {
    JobPlan.Restarts restarts = plan.restarts();
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
      return notAgain(lost, Refusal.words(refused));
    } catch (CommException.Setup refused) {
      return notAgain(lost, String.valueOf(refused.getMessage()));
    }
  }

  private Optional<RankProcess> notAgain(RankProcess lost, String why) {
    err.println("weft: cannot start rank " + lost.rank() + " again: " + why);
    return Optional.empty();
  }

  /// Waits until all ranks have ended well, or one has not and the others had time to say so and
  /// were ended. Returns 0, or the exit code of the rank that the job failed of. Ranks that are
  /// dispensable are lost without that; the job is done if one of them has ended well. 1 where the
  /// ranks were ended because nobody reads their output any more, or some of it was lost. Waits for
  /// whoever reads what they have said, as any program does.
  public int await() throws InterruptedException {
    int code = outcome();
    out.drain(DRAIN);
    said.drain(DRAIN);
    return code == 0 && (unread || incomplete) ? 1 : code;
  }

  private int outcome() throws InterruptedException {
    List<RankProcess> inOrder = new ArrayList<>();
    if (plan.dispensable().isEmpty()) {
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

  /// Waits for the others; not for ranks that are stopped when no other is left.
  ///
  /// @param inOrder a rank of which the job fails, or none; then all that have ended
  private int await(List<RankProcess> inOrder) throws InterruptedException {
    @Nullable RankProcess failed = inOrder.isEmpty() ? null : inOrder.getFirst();
    var stopped = new StoppedRanks(plan.config());
    long end = System.nanoTime() + Span.nanos(GRACE);
    while (inOrder.size() + settled.size() < ranks.size()) {
      Duration look = inOrder.isEmpty() ? LOOK : StoppedRanks.LOOK;
      long left = failed == null ? Span.nanos(look) : end - System.nanoTime();
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
        end = System.nanoTime() + Span.nanos(GRACE);
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

  /// Says which rank the job failed of, which is not always the first that ended.
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

  /// How the ranks ended that did so of their own accord.
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

  /// Ends what still runs, the store, and removes the secret; then lets its output arrive. A second
  /// call waits for the first to have done so.
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

  /// Acts first: ranks, store and secret; speaks then. Whether it was this call that did so.
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
      var unused = over.await(Span.millis(ENDING), TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Also where this thread is interrupted, which then takes no patience.
  private void endRanks() {
    var all = new JobProcesses(mark, ranks.stream().map(RankProcess::process).toList());
    try {
      all.end(grace);
    } catch (InterruptedException hurried) {
      all.kill();
      Thread.currentThread().interrupt();
    }
  }

  /// Lets what the ranks said arrive; what they started may keep their streams open.
  private void drain() throws InterruptedException {
    long end = System.nanoTime() + Span.nanos(DRAIN);
    for (RankProcess rank : ranks) {
      while (rank.speaks(SHORTLY) && System.nanoTime() - end < 0) {
        if (out.isAwaited() || said.isAwaited()) {
          end = System.nanoTime() + Span.nanos(DRAIN);
        }
      }
      rank.drain(Duration.ZERO);
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
    out.hurry();
    said.hurry();
    err.println("weft: interrupted; ending " + count());
    if (!end()) {
      directory.close();
    }
    close();
  }

  /// Nobody reads standard output any more, or the disk is full where it goes.
  private void outputRefused() {
    if (Files.isRegularFile(STANDARD_OUTPUT)) {
      incomplete = true;
      err.println(
          "weft: cannot write to standard output: "
              + StandardOutput.reason()
              + "; the job goes on, what ranks print there is lost");
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
