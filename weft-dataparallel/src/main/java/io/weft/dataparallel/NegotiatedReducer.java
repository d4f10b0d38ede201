// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.agent.Ticker;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.limit.Span;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Tensors go when all ranks have submitted them, together with others that are ready. User
/// threads; a thread of its own does the rest.
final class NegotiatedReducer implements Reducer {

  /// Submissions that the thread has not seen; who submits more waits for room.
  private static final int MOST_SUBMISSIONS = 16_384;

  private static final int MOST_DIMS = 64;
  private static final long CLOSE_NANOS = 5_000_000_000L;
  private static final TensorView NOTHING =
      new TensorView(DType.UINT8, Shape.of(0), Arena.global().allocate(0));

  private final Communicator communicator;
  private final DataParallelOptions options;
  private final IntFunction<String> describe;
  private final ObjectExchange objects;
  private final String why;
  private final LayerSpans spans;
  private final BlockingQueue<Submission> submissions = new ArrayBlockingQueue<>(MOST_SUBMISSIONS);
  private final Map<String, PendingTensor> pending = new ConcurrentHashMap<>();
  private final AtomicBoolean joining = new AtomicBoolean();
  private final NegotiationThread thread;
  private volatile @Nullable CommException ended;
  private volatile long threshold;

  /// @param allocator memory of the transport
  /// @param describe a rank of the communicator for people
  /// @param why the reason, for `describe`
  /// @param spans where what it does is recorded
  NegotiatedReducer(
      Communicator communicator,
      DataParallelOptions options,
      BiFunction<DType, Shape, TensorLease> allocator,
      IntFunction<String> describe,
      String why,
      LayerSpans spans) {
    this.communicator = communicator;
    this.options = options;
    this.describe = describe;
    this.objects = new ObjectExchange(communicator);
    this.why = why;
    this.spans = spans;
    this.threshold = options.fusionThreshold();
    var shared =
        new NegotiationThread.Shared(
            communicator, options, Ticker.SYSTEM, submissions, this::end, describe);
    this.thread =
        new NegotiationThread(
            "weft-negotiation-" + communicator.members().ranks().get(communicator.rank()),
            shared,
            wake ->
                new BatchPipeline(
                    communicator, pending, allocator, options.fusionThreshold(), wake, spans));
    thread.start();
  }

  @Override
  public int rank() {
    return communicator.rank();
  }

  @Override
  public int size() {
    return communicator.size();
  }

  @Override
  public Handle<TensorView> allreduce(ReductionRequest request) {
    PendingTensor tensor = PendingTensor.of(request, "", 0, spans);
    take(tensor);
    submit(List.of(tensor));
    return tensor.handle();
  }

  @Override
  public Handle<List<TensorView>> reduceAll(List<ReductionRequest> group) {
    List<PendingTensor> taken = new ArrayList<>(group.size());
    try {
      for (ReductionRequest request : group) {
        PendingTensor tensor =
            PendingTensor.of(request, group.getFirst().name(), group.size(), spans);
        take(tensor);
        taken.add(tensor);
      }
    } catch (RuntimeException refused) {
      taken.forEach(tensor -> pending.remove(tensor.name(), tensor));
      throw refused;
    }
    if (!taken.isEmpty()) {
      submit(taken);
    }
    return ReductionHandle.of(
        "group of " + group.size() + " tensors",
        spans,
        taken.stream().map(PendingTensor::handle).toList());
  }

  /// From now on there is a tensor of this name.
  private void take(PendingTensor tensor) {
    check(tensor);
    if (joining.get()) {
      throw new IllegalStateException(
          "allreduce '"
              + tensor.name()
              + "' of "
              + self()
              + " after its join; await the join's handle first");
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

  private static void check(PendingTensor tensor) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(tensor.name())) {
      throw new IllegalArgumentException("the tensor's name is not Unicode: " + tensor.name());
    }
    int dims = tensor.signature().shape().dims().size();
    if (dims > MOST_DIMS) {
      throw new IllegalArgumentException(
          "allreduce '" + tensor.name() + "': " + dims + " dimensions, at most " + MOST_DIMS);
    }
    checkMemory(tensor.name(), "input", tensor.request().input());
    checkMemory(tensor.name(), "output", tensor.request().output());
    if (tensor.request().output().data().isReadOnly()) {
      throw new IllegalArgumentException(
          "allreduce '" + tensor.name() + "': the output is read-only");
    }
  }

  /// Other threads work on tensors.
  private static void checkMemory(String name, String role, TensorView tensor) {
    if (!tensor.data().scope().isAlive() || !tensor.data().isAccessibleBy(NOBODY)) {
      throw new IllegalArgumentException(
          "allreduce '"
              + name
              + "': the "
              + role
              + " is in an arena that is closed or confined to a thread; use Weft.allocate,"
              + " Arena.ofShared() or Arena.ofAuto()");
    }
  }

  private static final Thread NOBODY = Thread.ofPlatform().unstarted(() -> {});

  private String self() {
    return describe.apply(communicator.rank());
  }

  private void submit(List<PendingTensor> tensors) {
    Duration own = tensors.getFirst().request().deadline();
    if (!offer(new Submission.Tensors(tensors), own.isZero() ? options.deadline() : own)) {
      CommException full =
          new CommException.TimedOut(
              self() + ": there was no room for '" + tensors.getFirst().name() + "'", List.of());
      tensors.forEach(tensor -> fail(tensor, full));
    }
  }

  /// False if there was no room for too long.
  private boolean offer(Submission submission, Duration limit) {
    boolean taken = submissions.offer(submission);
    if (!taken) {
      try {
        taken = submissions.offer(submission, Span.nanos(limit), TimeUnit.NANOSECONDS);
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
    if (!joining.compareAndSet(false, true)) {
      throw new IllegalStateException(self() + " has joined already; await the join's handle");
    }
    ReductionHandle<Integer> handle = new ReductionHandle<>("join of " + self(), spans);
    handle.whenDone((last, cause) -> joining.set(false));
    if (!offer(new Submission.Join(handle), options.deadline())) {
      handle.fail(new CommException.TimedOut(self() + ": there was no room for join", List.of()));
    }
    return handle;
  }

  @Override
  public void barrier(Duration limit) throws InterruptedException {
    var unused =
        allreduce(ReductionRequest.of("weft/barrier", NOTHING, ReduceOp.MAX).within(limit)).await();
  }

  @Override
  public <T> T broadcastObject(String name, T value, ObjectCodec<T> codec, int root)
      throws InterruptedException {
    return objects.broadcast(name, value, codec, root);
  }

  @Override
  public <T> List<T> allgatherObject(String name, T value, ObjectCodec<T> codec)
      throws InterruptedException {
    return objects.allgather(name, value, codec);
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
    threshold = Math.min(Long.highestOneBit(bytes), options.fusionThreshold());
    thread.limitBuffers(bytes);
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
    Submission next = submissions.poll();
    while (next != null) {
      if (next instanceof Submission.Join(ReductionHandle<Integer> handle)) {
        handle.fail(cause);
      }
      next = submissions.poll();
    }
    pending.values().forEach(tensor -> fail(tensor, cause));
  }

  private void fail(PendingTensor tensor, CommException cause) {
    if (pending.remove(tensor.name(), tensor)) {
      tensor.handle().fail(cause);
    }
  }

  /// Tells the other ranks that this one leaves; waits for at most five seconds. What has not ended
  /// fails.
  void close() {
    thread.leave();
    try {
      var unused = thread.join(Duration.ofNanos(CLOSE_NANOS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    end(new CommException.Aborted(self() + " has closed its DataParallel", null));
  }
}
