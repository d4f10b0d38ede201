// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.agent.Ticker;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.comm.Handles;
import io.weft.dataparallel.fusion.FusionMemory;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A reducer that starts a tensor when all ranks have submitted it, and fuses it with others that
/// are ready. User threads submit; a separate thread negotiates and reduces.
final class NegotiatedReducer extends CommunicatorReducer {

  /// The maximum number of submissions that the thread has not taken; further submissions wait.
  private static final int MOST_SUBMISSIONS = 16_384;

  private static final int MOST_DIMS = 64;
  private static final TensorView NOTHING =
      new TensorView(DType.UINT8, Shape.of(0), Arena.global().allocate(0));

  private final DataParallelOptions options;
  private final LayerMembers members;
  private final String why;
  private final LayerSpans spans;
  private final BlockingQueue<ReducerCommand> submissions =
      new ArrayBlockingQueue<>(MOST_SUBMISSIONS);
  private final Map<String, PendingOperation> pending = new ConcurrentHashMap<>();
  private final AtomicReference<@Nullable ReductionHandle<Integer>> lastJoin =
      new AtomicReference<>();
  private final NegotiationThread thread;
  private volatile @Nullable CommException ended;
  private volatile long threshold;

  /// The time of the last submitted reduction; 0 before the first.
  private volatile long lastReduction;

  /// @param settings the settings that must agree on all ranks
  /// @param allocator allocates memory of the transport
  /// @param why the reason, for `describe`
  /// @param spans the recorder of the reducer's work
  NegotiatedReducer(
      LayerMembers members,
      LayerSettings settings,
      BiFunction<DType, Shape, TensorLease> allocator,
      String why,
      LayerSpans spans) {
    super(members.communicator());
    this.options = settings.options();
    this.members = members;
    this.why = why;
    this.spans = spans;
    this.threshold = options.fusionThreshold();
    var shared =
        new NegotiationThread.Shared(members, settings, Ticker.SYSTEM, submissions, this::end);
    this.thread =
        new NegotiationThread(
            "weft-negotiation-" + communicator.members().ranks().get(communicator.rank()),
            shared,
            wake ->
                new BatchPipeline(
                    communicator,
                    pending,
                    new FusionMemory(allocator, options.fusionThreshold()),
                    wake,
                    spans));
    thread.start();
  }

  @Override
  public Handle<TensorView> allreduce(ReductionRequest request) {
    PendingTensor tensor = PendingTensor.of(request, "", 0, spans);
    take(tensor);
    submit(List.of(tensor));
    return checked(tensor.handle(), tensor.narrowed());
  }

  @Override
  public Handle<List<TensorView>> reduceAll(List<ReductionRequest> group) {
    List<PendingTensor> all = new ArrayList<>(group.size());
    group.forEach(
        each -> all.add(PendingTensor.of(each, group.getFirst().name(), group.size(), spans)));
    submitGroup(all);
    return together(
        group.size(), all.stream().map(each -> checked(each.handle(), each.narrowed())).toList());
  }

  @Override
  public <T> Handle<T> drive(Supplier<? extends Handle<T>> submission, Duration limit) {
    if (!thread.beginDriving()) {
      return submission.get();
    }
    try {
      Handle<T> handle = submission.get();
      thread.drive(handle::isDone, ClampedDuration.nanos(limit));
      return handle;
    } finally {
      thread.endDriving();
    }
  }

  @Override
  public <T> Handle<T> submit(CollectiveRequest<T> request) {
    checkRanks(request);
    PendingCollective<T> tensor = PendingCollective.of(request, "", 0, spans);
    take(tensor);
    submit(List.of(tensor));
    return tensor.handle();
  }

  @Override
  public <T> Handle<List<T>> submitAll(List<? extends CollectiveRequest<T>> group) {
    List<PendingCollective<T>> all = new ArrayList<>(group.size());
    for (CollectiveRequest<T> each : group) {
      checkRanks(each);
      all.add(PendingCollective.of(each, group.getFirst().name(), group.size(), spans));
    }
    submitGroup(all);
    return together(group.size(), all.stream().map(PendingCollective::handle).toList());
  }

  private <T> Handle<List<T>> together(int tensors, List<? extends Handle<T>> handles) {
    return Handles.completeWith(
        new ReductionHandle<>("group of " + tensors + " tensors", spans),
        handles,
        null,
        CollectiveStart::discard);
  }

  private void submitGroup(List<? extends PendingOperation> group) {
    List<PendingOperation> taken = new ArrayList<>(group.size());
    try {
      for (PendingOperation each : group) {
        take(each);
        taken.add(each);
      }
    } catch (RuntimeException refused) {
      taken.forEach(tensor -> pending.remove(tensor.name(), tensor));
      throw refused;
    }
    if (!taken.isEmpty()) {
      submit(taken);
    }
  }

  /// Registers the tensor under its name.
  private void take(PendingOperation tensor) {
    check(tensor);
    ReductionHandle<Integer> join = lastJoin.get();
    if (join != null && !join.isDone()) {
      throw new IllegalStateException(
          tensor.words() + " of " + self() + " after its join; await the join's handle first");
    }
    if (pending.putIfAbsent(tensor.name(), tensor) != null) {
      throw new IllegalStateException(
          "a tensor named '"
              + tensor.name()
              + "' is in flight on "
              + self()
              + " already; await it first, or give this one another name");
    }
  }

  private static void check(PendingOperation tensor) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(tensor.name())) {
      throw new IllegalArgumentException("the tensor's name is not Unicode: " + tensor.name());
    }
    int dims = tensor.signature().shape().dims().size();
    if (dims > MOST_DIMS) {
      throw new IllegalArgumentException(
          tensor.words() + ": " + dims + " dimensions, at most " + MOST_DIMS);
    }
    checkMemory(tensor);
  }

  @Override
  String self() {
    return members.self();
  }

  private void submit(List<? extends PendingOperation> tensors) {
    Duration own = tensors.getFirst().deadline();
    long now = Ticker.SYSTEM.nanos();
    if (tensors.getLast().isReduction()) {
      lastReduction = now;
    }
    if (!offer(new ReducerCommand.Tensors(tensors, now), own.isZero() ? options.deadline() : own)) {
      CommException full =
          new CommException.TimedOut(
              self() + ": no room in queue for '" + tensors.getFirst().name() + "'", List.of());
      tensors.forEach(tensor -> fail(tensor, full));
    }
  }

  /// Returns false if the queue remained full until the limit.
  private boolean offer(ReducerCommand submission, Duration limit) {
    boolean taken = submissions.offer(submission);
    if (!taken) {
      try {
        taken = submissions.offer(submission, ClampedDuration.nanos(limit), TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    thread.wakeForSubmission();
    CommException cause = ended;
    if (cause != null) {
      failAll(cause); // the thread may have ended before it saw this one
    }
    return taken;
  }

  @Override
  public Handle<Integer> join() {
    ReductionHandle<Integer> before = lastJoin.get();
    ReductionHandle<Integer> handle = new ReductionHandle<>("join of " + self(), spans);
    if ((before != null && !before.isDone()) || !lastJoin.compareAndSet(before, handle)) {
      throw new IllegalStateException(self() + " has joined already; await the join's handle");
    }
    if (!offer(new ReducerCommand.Join(handle), options.deadline())) {
      handle.fail(new CommException.TimedOut(self() + ": no room in queue for join", List.of()));
    }
    return handle;
  }

  @Override
  public void barrier(Duration limit) throws InterruptedException {
    var unused =
        allreduce(ReductionRequest.of("weft/barrier", NOTHING, ReduceOp.MAX).within(limit)).await();
  }

  @Override
  public OptionalLong lastReductionNanos() {
    return lastReduction == 0 ? OptionalLong.empty() : OptionalLong.of(lastReduction);
  }

  @Override
  public long fusionThreshold() {
    return threshold;
  }

  @Override
  public void fusionThreshold(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("fusion threshold of " + bytes + " bytes; at least 1");
    }
    threshold = thread.limitBuffers(bytes);
  }

  @Override
  public Handle<?> tune(Tuning next) {
    return submit(new TuneRequest(next));
  }

  @Override
  public String describe() {
    return "negotiated, in fusion buffers of up to " + options.fusionThreshold() + " bytes: " + why;
  }

  private void end(CommException cause) {
    ended = cause;
    failAll(cause);
  }

  private void failAll(CommException cause) {
    ReducerCommand next = submissions.poll();
    while (next != null) {
      if (next instanceof ReducerCommand.Join(ReductionHandle<Integer> handle)) {
        handle.fail(cause);
      }
      next = submissions.poll();
    }
    pending.values().forEach(tensor -> fail(tensor, cause));
  }

  private void fail(PendingOperation tensor, CommException cause) {
    if (pending.remove(tensor.name(), tensor)) {
      tensor.fail(cause);
    }
  }

  @Override
  public Tuning tuning() {
    return communicator.tuning();
  }

  /// Aborts the communicator. The thread then ends and closes it.
  @Override
  void abandon(CommException cause) {
    communicator.abort(cause);
    thread.abandon(cause);
  }

  @Override
  boolean isAborted() {
    return thread.isAborted();
  }

  @Override
  void leave() {
    thread.leave();
  }

  @Override
  void close(long endNanos) {
    try {
      var unused = thread.join(Duration.ofNanos(endNanos - Ticker.SYSTEM.nanos()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    end(new CommException.Aborted(self() + " has closed its DataParallel", null));
  }
}
