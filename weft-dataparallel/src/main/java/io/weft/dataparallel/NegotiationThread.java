// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.agent.Ticker;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.frame.RankReport;
import io.weft.dataparallel.fusion.FusionPlan;
import io.weft.dataparallel.negotiation.FailedTensor;
import io.weft.dataparallel.negotiation.Negotiation;
import io.weft.dataparallel.negotiation.Outcome;
import io.weft.dataparallel.negotiation.Round;
import io.weft.dataparallel.timeline.LayerOperations;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.limit.Span;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Turns the rounds of one communicator, and moves what is ready. It waits for nothing but its next
/// turn: submissions, and operations that end, wake it.
final class NegotiationThread extends Thread {

  private static final Logger LOG = LoggerFactory.getLogger(NegotiationThread.class);

  private static final long IDLE_NANOS = 1_000_000_000;

  /// How often deadlines are looked at while ranks are missing.
  private static final long MISSING_NANOS = 10_000_000;

  // Rounds in which nothing happens: the first follows at once, the others after longer and longer.
  private static final long LEAST_PAUSE_NANOS = 50_000;
  private static final long MOST_PAUSE_NANOS = 1_000_000;
  private static final long STALLED_PAUSE_NANOS = 20_000_000;
  private static final long STALLED_NANOS = 1_000_000_000;

  /// While a program submits one tensor after the other, a round waits for the next one, but not
  /// for longer than this: it would find few of them, on this rank or another.
  private static final long GATHER_NANOS = 200_000;

  /// How long a caller that drives sleeps where another thread runs the progress engine.
  private static final long DRIVE_PAUSE_NANOS = 50_000;

  /// Whether the thread drives a layer, as a caller.
  private static final ThreadLocal<Boolean> DRIVES = ThreadLocal.withInitial(() -> false);

  private final Shared shared;
  private final Negotiation negotiation;

  /// Held by the thread that turns the layer: this one while it does not wait, or a caller that
  /// drives. Guards what is not volatile.
  private final ReentrantLock turning = new ReentrantLock();

  /// The caller that drives: what is submitted meanwhile need not wake this thread.
  private volatile @Nullable Thread driver;

  private volatile boolean compared;

  /// What a turn of a caller threw; this thread ends by it.
  private @Nullable Throwable thrown;

  /// Why the thread ends, once a rank has left.
  private @Nullable CommException ending;

  private final BatchPipeline pipeline;
  private final CollectiveOptions roundOptions;
  private final CollectiveOptions reportOptions;
  private final LongPredicate shares;
  private final long idleNanos;
  private final long deadlineNanos;
  private @Nullable ReductionHandle<Integer> join;
  private @Nullable RunningRound round;
  private MemorySegment vectors = Arena.ofAuto().allocate(4096, 64);
  private boolean fresh;
  private long freshSince;
  private boolean left;
  private volatile boolean leaving;
  private volatile boolean signalled;
  private volatile boolean aborted;
  private volatile @Nullable CommException abandoned;
  private volatile int thresholdPower = Round.ANY_THRESHOLD;

  /// Whether something that is submitted must wake it. While a round is under way, or batches wait
  /// for their turn, it waits for the next round anyway.
  private volatile boolean idle;

  private long lastRound;
  private long pause;
  private long lastOperation;
  private long lastWarning;

  /// What the thread shares with the reducer.
  ///
  /// @param communicator the layer's own, closed when the thread ends
  /// @param settings which all ranks must have
  /// @param submissions from user threads
  /// @param onEnd told the cause, once, when the thread ends
  /// @param describe a rank for people
  record Shared(
      Communicator communicator,
      DataParallelOptions options,
      LayerSettings settings,
      Ticker ticker,
      Queue<Submission> submissions,
      Consumer<CommException> onEnd,
      IntFunction<String> describe) {}

  NegotiationThread(String name, Shared shared, BatchPipelineFactory pipelines) {
    super(name);
    setDaemon(true);
    this.shared = shared;
    DataParallelOptions options = shared.options();
    this.negotiation =
        new Negotiation(
            new Negotiation.Settings(
                shared.communicator().rank(),
                shared.communicator().size(),
                options.cacheCapacity(),
                Span.nanos(options.stallCheckTime()),
                shared.describe()));
    this.pipeline = pipelines.create(this::wake);
    Duration limit = longer(options.deadline(), Duration.ofSeconds(60));
    this.roundOptions = CollectiveOptions.named(LayerOperations.ROUND).within(limit);
    this.reportOptions = CollectiveOptions.named(LayerOperations.REPORTS).within(limit);
    this.shares = options.fusion() == Fusion.AUTO ? shared.communicator()::fuses : bytes -> true;
    this.deadlineNanos = Span.nanos(options.deadline());
    this.idleNanos = Math.min(IDLE_NANOS, deadlineNanos / 4);
  }

  /// Makes the pipeline of a thread.
  @FunctionalInterface
  interface BatchPipelineFactory {

    /// @param wake called when a batch may have ended
    BatchPipeline create(Runnable wake);
  }

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }

  /// There is something to do. Any thread.
  void wake() {
    signalled = true;
    Thread caller = driver;
    LockSupport.unpark(caller != null ? caller : this);
  }

  /// Something was submitted. Any thread.
  void wakeForSubmission() {
    // Pairs with the writes before the queue is looked at, in `park` and `endDriving`.
    if (idle && driver == null) {
      wake();
    }
  }

  /// Tells the other ranks that this one leaves, and ends. Any thread.
  void leave() {
    leaving = true;
    wake();
  }

  /// Ends with this cause. Any thread.
  void abandon(CommException cause) {
    abandoned = cause;
    wake();
  }

  /// Whether the calling thread turns a layer, as in a callback of a reduction.
  static boolean isTurning() {
    return Thread.currentThread() instanceof NegotiationThread || DRIVES.get();
  }

  /// Takes the turns over from this thread, for the caller. Returns false where another thread
  /// turns the layer, the caller does already, or ranks have not compared their settings yet.
  boolean beginDriving() {
    if (!compared || isTurning() || !turning.tryLock()) {
      return false;
    }
    DRIVES.set(true);
    driver = Thread.currentThread();
    return true;
  }

  /// Turns the layer on the calling thread, between `beginDriving` and `endDriving`: between turns
  /// of the progress engine, which that thread keeps until the end. Where another thread runs the
  /// engine, the caller sleeps between turns of the layer.
  void drive(BooleanSupplier done, long nanos) {
    long end = shared.ticker().nanos() + nanos;
    BooleanSupplier over = () -> turnFor(done);
    while (!over.getAsBoolean()) {
      long left = end - shared.ticker().nanos();
      if (left <= 0) {
        return;
      }
      signalled = false; // volatile: what is told from now on ends the sleep
      boolean driven = shared.communicator().progress(over, Duration.ofNanos(left));
      if (!driven && !over.getAsBoolean() && !signalled) {
        LockSupport.parkNanos(this, DRIVE_PAUSE_NANOS);
      }
    }
  }

  /// One turn for a caller. Returns whether the caller is to stop.
  private boolean turnFor(BooleanSupplier done) {
    if (done.getAsBoolean() || thrown != null || ending != null) {
      return true;
    }
    try {
      var unused = turn(shared.ticker().nanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    } catch (RuntimeException | Error failed) {
      thrown = failed;
      return true;
    }
    return done.getAsBoolean();
  }

  /// Leaves the turns to this thread, and wakes it if there is something to do.
  void endDriving() {
    DRIVES.set(false);
    driver = null; // volatile: before it is looked at what was submitted meanwhile
    boolean left =
        thrown != null
            || ending != null
            || isUnderWay()
            || fresh
            || leaving
            || abandoned != null
            || negotiation.isWaiting()
            || !shared.submissions().isEmpty();
    turning.unlock();
    if (left) {
      wake();
    }
  }

  private boolean isUnderWay() {
    return round != null || !pipeline.isIdle();
  }

  /// Whether it has ended because its communicator was aborted. Any thread.
  boolean isAborted() {
    return aborted;
  }

  /// Longest fusion buffer that this rank takes from its next round on: the largest power of two up
  /// to `bytes`. Any thread.
  void limitBuffers(long bytes) {
    thresholdPower =
        bytes >= shared.options().fusionThreshold()
            ? Round.ANY_THRESHOLD
            : Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes);
  }

  @Override
  public void run() {
    turning.lock();
    try {
      runToEnd();
    } finally {
      turning.unlock();
    }
  }

  private void runToEnd() {
    CommException cause;
    try {
      compareSettings();
      long now = shared.ticker().nanos();
      lastRound = now;
      lastOperation = now;
      compared = true;
      cause = turn();
    } catch (CommException failed) {
      cause = failed;
      aborted = failed instanceof CommException.Aborted;
    } catch (InterruptedException e) {
      cause = new CommException.Aborted(self() + ": the layer's thread was interrupted", e);
    } catch (RuntimeException | Error defect) {
      LOG.error("{}: data parallelism ends by a defect", self(), defect);
      cause = new CommException.Aborted(self() + ": data parallelism failed: " + defect, defect);
      shared.communicator().abort(cause);
    }
    compared = false;
    ReductionHandle<Integer> waiting = join;
    if (waiting != null) {
      waiting.fail(cause);
    }
    shared.onEnd().accept(cause);
    pipeline.close();
    shared.communicator().close();
  }

  private String self() {
    return shared.describe().apply(shared.communicator().rank());
  }

  /// Returns when all ranks have made their reducer with the same settings. Tensors that wait for
  /// longer than their deadline fail meanwhile.
  private void compareSettings() throws InterruptedException {
    Handle<TensorLease> all = shared.settings().exchange(shared.communicator());
    all.whenDone((result, cause) -> wake());
    long begun = shared.ticker().nanos();
    lastWarning = begun;
    while (!all.isDone()) {
      signalled = false;
      long now = shared.ticker().nanos();
      var unused = drain(now);
      for (String late : negotiation.giveUp(now)) {
        pipeline.fail(late, missing(late, now - begun));
      }
      if (now - lastWarning >= Span.nanos(shared.options().stallCheckTime())) {
        lastWarning = now;
        LOG.warn("{}; at most {} minutes", missing(now - begun), LayerSettings.LIMIT.toMinutes());
      }
      if (!all.isDone()) {
        park(negotiation.isWaiting() ? MISSING_NANOS : IDLE_NANOS, true);
      }
    }
    try (TensorLease sent = all.await()) {
      shared
          .settings()
          .compare(sent.view().data(), shared.communicator().size(), shared.describe());
    }
  }

  private CommException missing(String tensor, long nanos) {
    return new CommException.Broken(
        "'" + tensor + "' was not begun before its deadline: " + missing(nanos),
        world(shared.communicator().rank()),
        null);
  }

  private String missing(long nanos) {
    return self()
        + " has waited "
        + nanos / 1_000_000
        + " ms for other ranks of process set "
        + shared.communicator().members().ranks()
        + " to make their reducer; all ranks make the same ones";
  }

  /// Until this rank or another one leaves; returns the cause.
  private CommException turn() throws InterruptedException {
    while (true) {
      signalled = false; // volatile: what is told from now on ends the wait below
      switch (thrown) {
        case null -> {}
        case RuntimeException failed -> throw failed;
        case Error failed -> throw failed;
        case Throwable other -> throw new IllegalStateException(other);
      }
      long now = shared.ticker().nanos();
      int work = ending == null ? turn(now) : 0;
      CommException end = ending;
      if (end != null) {
        return end;
      }
      if (work == 0) {
        park(now);
      }
    }
  }

  /// One turn, on the thread that holds `turning`. Returns how much it has done. Throws the cause
  /// if the communicator has failed or this rank has restarted its reducer.
  private int turn(long now) throws InterruptedException {
    CommException cause = abandoned;
    if (cause != null) {
      throw new CommException.Aborted(
          self() + " has restarted its reducer: " + cause.getMessage(), cause);
    }
    int work = drain(now);
    boolean arriving = work > 0 && driver == null && now - freshSince < GATHER_NANOS;
    int batches = pipeline.work();
    if (batches > 0) {
      lastOperation = now;
    }
    work += batches;
    RunningRound begun = round;
    if (begun == null) {
      if (arriving) {
        Thread.yield();
      } else if (!pipeline.isFull() && isDue(now)) {
        begin(now);
        work++;
      }
    } else {
      Outcome outcome = advance(begun, now);
      if (outcome != null) {
        work++;
        ending =
            apply(outcome, Round.threshold(begun.combined(), shared.options().fusionThreshold()));
      }
    }
    return work;
  }

  private int drain(long now) {
    int work = 0;
    Submission next = shared.submissions().poll();
    while (next != null) {
      work++;
      switch (next) {
        case Submission.Tensors(List<? extends Pending> tensors, long nanos) -> {
          for (Pending tensor : tensors) {
            Duration own = tensor.deadline();
            long limit = own.isZero() ? deadlineNanos : Span.nanos(own);
            negotiation.submit(tensor.name(), tensor.signature(), nanos, nanos + limit);
          }
        }
        case Submission.Join(ReductionHandle<Integer> handle) -> {
          join = handle;
          negotiation.join();
        }
      }
      next = shared.submissions().poll();
    }
    if (leaving && !left) {
      left = true;
      negotiation.leave();
      work++;
    }
    if (work > 0 && !fresh) {
      fresh = true;
      freshSince = now;
    }
    return work;
  }

  private boolean isDue(long now) {
    return fresh || now - lastRound >= untilNext(now);
  }

  /// How long after the last round the next one begins.
  private long untilNext(long now) {
    if (!negotiation.isWaiting()) {
      return idleNanos;
    }
    boolean stalled = now - negotiation.waitingSince(now) >= STALLED_NANOS;
    return stalled ? STALLED_PAUSE_NANOS : pause;
  }

  private void begin(long now) {
    fresh = false;
    Round brought = negotiation.begin(now, pipeline.lastOperation(), now - lastOperation);
    byte[] vector = brought.vector();
    vector[1] = (byte) thresholdPower;
    if (vectors.byteSize() < vector.length) {
      vectors = Arena.ofAuto().allocate(2L * vector.length, 64);
    }
    MemorySegment memory = vectors.asSlice(0, vector.length);
    MemorySegment.copy(vector, 0, memory, ValueLayout.JAVA_BYTE, 0, vector.length);
    TensorView tensor = new TensorView(DType.UINT8, Shape.of(vector.length), memory);
    Handle<TensorView> handle =
        shared.communicator().allreduce(tensor, tensor, ReduceOp.MIN, roundOptions);
    round = new RunningRound(shared.communicator(), brought, handle, reportOptions, this::wake);
  }

  /// What the round has brought; null = it goes on.
  private @Nullable Outcome advance(RunningRound begun, long now) throws InterruptedException {
    List<RankReport> reports = begun.advance(shared.describe());
    return reports == null ? null : end(begun, reports, now);
  }

  private Outcome end(RunningRound begun, List<RankReport> reports, long now) {
    round = null;
    lastRound = now;
    Outcome outcome = negotiation.end(begun.combined(), reports, now);
    pause = outcome.isEmpty() ? Math.clamp(2 * pause, LEAST_PAUSE_NANOS, MOST_PAUSE_NANOS) : 0;
    warn(now);
    return outcome;
  }

  private void warn(long now) {
    if (now - lastWarning < Span.nanos(shared.options().stallCheckTime())) {
      return;
    }
    String stall = negotiation.stall(now);
    if (stall != null) {
      lastWarning = now;
      LOG.warn("{}", stall);
    }
  }

  /// Returns why the thread ends, if it does.
  private @Nullable CommException apply(Outcome outcome, long threshold) {
    pipeline.add(FusionPlan.of(outcome.ready(), threshold, shares));
    for (FailedTensor failed : outcome.failed()) {
      pipeline.fail(failed.name(), cause(failed));
    }
    ReductionHandle<Integer> waiting = join;
    if (outcome.lastJoined() >= 0 && waiting != null) {
      join = null;
      waiting.complete(outcome.lastJoined());
    }
    if (outcome.leaver() < 0) {
      return null;
    }
    return new CommException.Aborted(
        shared.describe().apply(outcome.leaver())
            + " has closed its DataParallel while this rank works on: its program has failed, as"
            + " its own output says, or it closes too early; close it on all ranks after their last"
            + " reduction",
        world(outcome.leaver()),
        null);
  }

  private CommException cause(FailedTensor failed) {
    return failed.isMismatch()
        ? new CommException.Mismatch(failed.message())
        : new CommException.Broken(failed.message(), world(failed.culprit()), null);
  }

  private int world(int rank) {
    return shared.communicator().members().ranks().get(rank);
  }

  private void park(long now) {
    boolean blocked = round != null || pipeline.isFull();
    idle = !blocked;
    if (blocked || shared.submissions().isEmpty()) {
      long longest = blocked ? IDLE_NANOS : Math.max(1, untilNext(now) - (now - lastRound));
      boolean underWay = blocked || !pipeline.isIdle();
      turning.unlock(); // a caller may drive meanwhile
      try {
        park(longest, underWay);
      } finally {
        turning.lock();
      }
    }
    idle = false;
  }

  /// While anything is under way this thread runs the progress engine, as a user's that waits does.
  private void park(long longest, boolean underWay) {
    boolean driven =
        underWay && shared.communicator().progress(() -> signalled, Duration.ofNanos(longest));
    if (!driven && !signalled) {
      LockSupport.parkNanos(this, longest); // what ends wakes it
    }
    if (Thread.interrupted()) {
      throw new CommException.Aborted(self() + ": the layer's thread was interrupted", null);
    }
  }
}
