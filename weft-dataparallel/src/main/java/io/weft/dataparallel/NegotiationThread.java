// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.agent.Ticker;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.dataparallel.frame.RoundReport;
import io.weft.dataparallel.fusion.FusionPlan;
import io.weft.dataparallel.negotiation.FailedTensor;
import io.weft.dataparallel.negotiation.Negotiation;
import io.weft.dataparallel.negotiation.Outcome;
import io.weft.dataparallel.negotiation.Round;
import io.weft.telemetry.timeline.LayerOperations;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.limit.ClampedDuration;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The thread that runs the negotiation rounds of one communicator and reduces ready tensors. It
/// waits only between duty cycles: submissions and completed operations wake it.
final class NegotiationThread extends Thread {

  private static final Logger LOG = LoggerFactory.getLogger(NegotiationThread.class);

  private static final long IDLE_NANOS = 1_000_000_000;

  /// The interval of deadline checks while ranks are missing.
  private static final long MISSING_NANOS = 10_000_000;

  // Pauses after rounds without a result: the next round follows at once, later ones after pauses
  // that double.
  private static final long LEAST_PAUSE_NANOS = 50_000;
  private static final long MOST_PAUSE_NANOS = 1_000_000;
  private static final long STALLED_PAUSE_NANOS = 20_000_000;
  private static final long STALLED_NANOS = 1_000_000_000;

  /// While a program submits tensors in quick succession, a round waits for the next one, but at
  /// most this long. An earlier round would find few tensors, on this rank or another.
  private static final long GATHER_NANOS = 200_000;

  /// The time that a driving caller sleeps while another thread runs the progress engine.
  private static final long DRIVE_PAUSE_NANOS = 50_000;

  /// True if the thread drives a layer, as a caller.
  private static final ThreadLocal<Boolean> DRIVES = ThreadLocal.withInitial(() -> false);

  private final Shared shared;
  private final Negotiation negotiation;

  /// Held by the thread that runs the layer: this thread while it does not wait, or a driving
  /// caller. Guards the fields that are not volatile.
  private final ReentrantLock turning = new ReentrantLock();

  /// The driving caller; submissions during its drive need not wake this thread.
  private volatile @Nullable Thread driver;

  private volatile boolean compared;

  /// The exception of a duty cycle on a caller's thread; it ends this thread.
  private @Nullable Throwable thrown;

  /// The reason why the thread ends, after a rank has left.
  private @Nullable CommException ending;

  private final BatchPipeline pipeline;
  private final CollectiveOptions roundOptions;
  private final CollectiveOptions reportOptions;
  private final FusionPlan.Rules rules;
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

  /// True if a submission must wake the thread. While a round is in flight or batches wait for
  /// their start, a submission need not wake it.
  private volatile boolean idle;

  private long lastRound;
  private long pause;
  private long lastOperation;
  private long lastWarning;

  /// The state that the thread shares with the reducer.
  ///
  /// @param members with the layer's private communicator, closed when the thread ends
  /// @param settings the settings that must agree on all ranks
  /// @param submissions submissions of user threads
  /// @param onEnd receives the cause, once, when the thread ends
  record Shared(
      LayerMembers members,
      LayerSettings settings,
      Ticker ticker,
      Queue<ReducerCommand> submissions,
      Consumer<CommException> onEnd) {

    Communicator communicator() {
      return members.communicator();
    }

    DataParallelOptions options() {
      return settings.options();
    }

    IntFunction<String> describe() {
      return members.describe();
    }
  }

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
                ClampedDuration.nanos(options.stallCheckTime()),
                shared.describe()));
    this.pipeline = pipelines.create(this::wake);
    Duration limit = longer(options.deadline(), Duration.ofSeconds(60));
    this.roundOptions = CollectiveOptions.named(LayerOperations.ROUND).within(limit);
    this.reportOptions = CollectiveOptions.named(LayerOperations.REPORTS).within(limit);
    Communicator own = shared.communicator();
    this.rules =
        new FusionPlan.Rules(
            options.fusion() == Fusion.AUTO ? own::fuses : bytes -> true, own::mixes);
    this.deadlineNanos = ClampedDuration.nanos(options.deadline());
    this.idleNanos = Math.min(IDLE_NANOS, deadlineNanos / 4);
  }

  @FunctionalInterface
  interface BatchPipelineFactory {

    /// @param wake called when a batch may have ended
    BatchPipeline create(Runnable wake);
  }

  private static Duration longer(Duration a, Duration b) {
    return a.compareTo(b) > 0 ? a : b;
  }

  /// Wakes the thread, or the driving caller, because there is work. Any thread.
  void wake() {
    signalled = true;
    Thread caller = driver;
    LockSupport.unpark(caller != null ? caller : this);
  }

  /// Wakes the thread for a submission. Any thread.
  void wakeForSubmission() {
    // Pairs with the writes before the queue is read, in `park` and `endDriving`.
    if (idle && driver == null) {
      wake();
    }
  }

  /// Notifies the other ranks that this rank leaves, and ends the thread. Any thread.
  void leave() {
    leaving = true;
    wake();
  }

  /// Ends the thread with this cause. Any thread.
  void abandon(CommException cause) {
    abandoned = cause;
    wake();
  }

  /// Returns true if the calling thread runs a layer, for example in a callback of a reduction.
  static boolean isTurning() {
    return Thread.currentThread() instanceof NegotiationThread || DRIVES.get();
  }

  /// Makes the caller run the duty cycles in place of this thread. Returns false if another thread
  /// runs the layer, the caller does already, or ranks have not compared their settings yet.
  boolean beginDriving() {
    if (!compared || isTurning() || !turning.tryLock()) {
      return false;
    }
    DRIVES.set(true);
    driver = Thread.currentThread();
    return true;
  }

  /// Runs the layer on the calling thread, between `beginDriving` and `endDriving`. The layer's
  /// duty cycles run between those of the progress engine, which the calling thread keeps until the
  /// end. If another thread runs the engine, the caller sleeps between duty cycles of the layer.
  void drive(BooleanSupplier done, long nanos) {
    long end = shared.ticker().nanos() + nanos;
    BooleanSupplier over = () -> turnFor(done);
    while (!over.getAsBoolean()) {
      long left = end - shared.ticker().nanos();
      if (left <= 0) {
        return;
      }
      signalled = false; // volatile: a later signal ends the sleep
      boolean driven = shared.communicator().progress(over, Duration.ofNanos(left));
      if (!driven && !over.getAsBoolean() && !signalled) {
        LockSupport.parkNanos(this, DRIVE_PAUSE_NANOS);
      }
    }
  }

  /// Runs one duty cycle for a caller. Returns true if the caller must stop.
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

  /// Returns the duty cycles to this thread, and wakes it if there is work.
  void endDriving() {
    DRIVES.set(false);
    driver = null; // volatile: written before the submissions are read
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

  /// Returns true if the thread has ended because its communicator was aborted. Any thread.
  boolean isAborted() {
    return aborted;
  }

  /// Limits the fusion buffers that this rank accepts from its next round on to the largest power
  /// of two up to `bytes`, or to the threshold of the options if `bytes` reaches it. Returns the
  /// limit. Any thread.
  long limitBuffers(long bytes) {
    long most = shared.options().fusionThreshold();
    boolean any = bytes >= most;
    thresholdPower = any ? Round.ANY_THRESHOLD : Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes);
    return any ? most : Long.highestOneBit(bytes);
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
      LOG.error("{}: data parallelism ends because of a defect", self(), defect);
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
    return shared.members().self();
  }

  /// Returns when all ranks have created their reducer with equal settings. Tensors that wait
  /// longer than their deadline fail.
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
      if (now - lastWarning >= ClampedDuration.nanos(shared.options().stallCheckTime())) {
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

  /// Runs until this rank or another one leaves; returns the cause.
  private CommException turn() throws InterruptedException {
    while (true) {
      signalled = false; // volatile: a later signal ends the wait below
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

  /// Runs one duty cycle, on the thread that holds `turning`. Returns the amount of work done.
  /// Throws the cause if the communicator has failed or this rank has restarted its reducer.
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
    ReducerCommand next = shared.submissions().poll();
    while (next != null) {
      work++;
      switch (next) {
        case ReducerCommand.Tensors(List<? extends PendingOperation> tensors, long nanos) -> {
          for (PendingOperation tensor : tensors) {
            Duration own = tensor.deadline();
            long limit = own.isZero() ? deadlineNanos : ClampedDuration.nanos(own);
            negotiation.submit(tensor.name(), tensor.signature(), nanos, nanos + limit);
          }
        }
        case ReducerCommand.Join(ReductionHandle<Integer> handle) -> {
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

  /// Returns the time from the last round to the start of the next one.
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

  /// Returns the outcome of the round; null = it has not completed.
  private @Nullable Outcome advance(RunningRound begun, long now) throws InterruptedException {
    List<RoundReport> reports = begun.advance(shared.describe());
    return reports == null ? null : end(begun, reports, now);
  }

  private Outcome end(RunningRound begun, List<RoundReport> reports, long now) {
    round = null;
    lastRound = now;
    Outcome outcome = negotiation.end(begun.combined(), reports, now);
    pause = outcome.isEmpty() ? Math.clamp(2 * pause, LEAST_PAUSE_NANOS, MOST_PAUSE_NANOS) : 0;
    warn(now);
    return outcome;
  }

  private void warn(long now) {
    if (now - lastWarning < ClampedDuration.nanos(shared.options().stallCheckTime())) {
      return;
    }
    String stall = negotiation.stall(now);
    if (stall != null) {
      lastWarning = now;
      LOG.warn("{}", stall);
    }
  }

  /// Returns the reason why the thread must end, or null.
  private @Nullable CommException apply(Outcome outcome, long threshold) {
    pipeline.add(FusionPlan.of(outcome.ready(), threshold, rules));
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
      turning.unlock(); // so that a caller can drive
      try {
        park(longest, underWay);
      } finally {
        turning.lock();
      }
    }
    idle = false;
  }

  /// While operations are in flight, this thread runs the progress engine, as a waiting user thread
  /// does.
  private void park(long longest, boolean underWay) {
    boolean driven =
        underWay && shared.communicator().progress(() -> signalled, Duration.ofNanos(longest));
    if (!driven && !signalled) {
      LockSupport.parkNanos(this, longest); // completions wake this thread
    }
    if (Thread.interrupted()) {
      throw new CommException.Aborted(self() + ": the layer's thread was interrupted", null);
    }
  }
}
