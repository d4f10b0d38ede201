// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.CommException;
import io.weft.Handle;
import io.weft.agent.Lane;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.exchange.Script;
import io.weft.collective.group.Group;
import io.weft.collective.group.Signature;
import io.weft.collective.message.Results;
import io.weft.collective.message.Rows;
import io.weft.collective.message.Scripts;
import io.weft.collective.plan.Kind;
import io.weft.collective.plan.Plan;
import io.weft.collective.plan.Repertoire;
import io.weft.collective.plan.Selection;
import io.weft.collective.shared.SharedScripts;
import io.weft.collective.slot.SlotStage;
import io.weft.collective.slot.SmallAllreduce;
import io.weft.memory.LentMemory;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.transport.limit.Span;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The communicator that users hold: checks what they ask for, makes an operation of it and hands
/// it to the lane. Thread-safe.
final class MeshCommunicator implements Communicator {

  private final Collectives collectives;
  private final Group group;
  private final Lane lane;
  private final Duration defaultDeadline;
  private final Selection algorithms;
  private final Signatures signatures;
  private final Results results;
  private final Signature barrierSignature;
  private final TensorView meeting =
      new TensorView(DType.UINT8, Shape.of(1), Arena.ofAuto().allocate(1));
  private final AtomicBoolean aborted = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final OperationNames names;
  private final Parting parting;

  MeshCommunicator(Collectives collectives, Group group, Lane lane, Duration defaultDeadline) {
    this.collectives = collectives;
    this.group = group;
    this.names = new OperationNames(group.key());
    this.parting = Parting.of(group, collectives.mesh());
    this.signatures = new Signatures(collectives.tuning());
    this.barrierSignature =
        Signature.of(Kind.BARRIER, DType.UINT8, Shape.of(1), "", collectives.tuning());
    this.algorithms =
        new Selection(
            collectives.table(),
            group.hosts(),
            group.mayShareMemory(collectives.mesh().transport()));
    boolean shown = collectives.mesh().transport().capabilities().directAccess();
    this.results = new Results(shown ? collectives.tensors() : null);
    this.lane = lane;
    this.defaultDeadline = defaultDeadline;
  }

  @Override
  public int rank() {
    return group.rank();
  }

  @Override
  public int size() {
    return group.size();
  }

  @Override
  public Handle<TensorView> allreduce(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    checkInput(options, input);
    checkOutput(options, "output", output);
    check(
        options,
        input.dtype() == output.dtype() && input.shape().equals(output.shape()),
        () -> "output is " + output.signature() + ", expected " + input.signature());
    checkApart(options, input, output);
    boolean shared = isShared(Kind.ALLREDUCE, options, input.bytes());
    String algorithm = choose(Kind.ALLREDUCE, shared, options, input.bytes());
    Signature signature =
        signatures.allreduce(
            input.dtype(), input.shape(), op, shared ? Repertoire.SHARED : algorithm);
    if (algorithms.sharesMemory()
        && !shared
        && algorithm.equals(Repertoire.RECURSIVE_DOUBLING)
        && SmallAllreduce.takes(input.bytes(), size())) {
      return submitSmall(Kind.ALLREDUCE, options, signature, input, output, op, output);
    }
    if (shared && SharedScripts.takesOffers(input.bytes(), size())) {
      SlotStage<TensorView> stage =
          SharedScripts.offered(collectives.boards(), group, input, output, op, algorithm);
      return submit(
          new PromptAllreduce<>(this, take(options), Kind.ALLREDUCE, options, signature, stage),
          options);
    }
    Script<TensorView> script =
        shared
            ? SharedScripts.allreduce(plans(Kind.ALLREDUCE), algorithm, input, output, op, size())
            : Scripts.allreduce(
                algorithms.plan(Kind.ALLREDUCE, algorithm, 0, rank()), input, output, op, size());
    return submit(options, signature, script);
  }

  /// Hot path.
  private <T> Handle<T> submitSmall(
      Kind kind,
      CollectiveOptions options,
      Signature signature,
      TensorView input,
      TensorView output,
      ReduceOp op,
      @Nullable T result) {
    SlotStage<T> stage =
        new SmallAllreduce<>(
            collectives.boards(),
            input.data(),
            output,
            Kernels.reducer(input.dtype(), op),
            op == ReduceOp.AVERAGE ? size() : 1,
            result);
    return submit(
        new PromptAllreduce<>(this, take(options), kind, options, signature, stage), options);
  }

  @Override
  public Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    checkInput(options, input);
    checkOutput(options, "output", output);
    checkRows(options, input, "scatter");
    long rows = Rows.even(input.shape().dims().getFirst(), size())[rank()];
    Shape mine = input.shape().withFirst(rows);
    check(
        options,
        output.dtype() == input.dtype() && output.shape().equals(mine),
        () -> "output is " + output.signature() + ", expected " + input.dtype() + mine);
    boolean shared = isShared(Kind.REDUCE_SCATTER, options, input.bytes());
    String algorithm = choose(Kind.REDUCE_SCATTER, shared, options, input.bytes());
    Plan plan = algorithms.plan(Kind.REDUCE_SCATTER, algorithm, 0, rank());
    String by = op + by(shared, algorithm);
    Signature signature = sign(Kind.REDUCE_SCATTER, input, by);
    if (!shared) {
      return submit(
          options, signature, Scripts.reduceScatter(plan, input, output, op, rank(), size()));
    }
    Plan ring = algorithms.plan(Kind.REDUCE_SCATTER, "ring", 0, rank());
    return submit(
        options,
        signature,
        SharedScripts.reduceScatter(plan, ring, input, output, op, group, results));
  }

  @Override
  public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
    checkInput(options, input);
    checkRows(options, input, "gather");
    boolean shared = isShared(Kind.ALLGATHER, options, input.bytes());
    String algorithm = choose(Kind.ALLGATHER, shared, options, input.bytes());
    Plan data = algorithms.plan(Kind.ALLGATHER, algorithm, 0, rank());
    Signature signature = sign(Kind.ALLGATHER, input, by(shared, algorithm).strip());
    if (shared) {
      return submit(options, signature, SharedScripts.allgather(data, input, group, results));
    }
    Plan counts = algorithms.plan(Kind.ALLGATHER, "direct", 0, rank());
    return submit(
        options, signature, Scripts.allgather(counts, data, input, rank(), size(), results));
  }

  @Override
  public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
    checkOutput(options, "tensor", inOut);
    check(
        options, root >= 0 && root < size(), () -> "root " + root + " is not a rank of " + size());
    boolean shared = isShared(Kind.BROADCAST, options, inOut.bytes());
    String algorithm = choose(Kind.BROADCAST, shared, options, inOut.bytes());
    Plan plan = algorithms.plan(Kind.BROADCAST, algorithm, root, rank());
    Signature signature = sign(Kind.BROADCAST, inOut, "from " + root + by(shared, algorithm));
    return submit(
        options,
        signature,
        shared
            ? SharedScripts.broadcast(plan, inOut, root, group)
            : Scripts.broadcast(plan, inOut));
  }

  @Override
  public Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options) {
    checkInput(options, input);
    checkRows(options, input, "send");
    long rows = input.shape().dims().getFirst();
    check(
        options,
        splits.size() == size() && Rows.isDivision(splits, rows),
        () ->
            "splits "
                + splits
                + " of "
                + group.self()
                + " are not "
                + size()
                + " counts that sum to the "
                + rows
                + " rows of "
                + input.signature());
    boolean shared = isShared(Kind.ALLTOALL, options, input.bytes());
    String algorithm = choose(Kind.ALLTOALL, shared, options, input.bytes());
    List<Long> rowsFor = List.copyOf(splits);
    Signature signature = sign(Kind.ALLTOALL, input, by(shared, algorithm).strip());
    if (shared) {
      return submit(options, signature, SharedScripts.alltoall(input, rowsFor, group, results));
    }
    Plan plan = algorithms.plan(Kind.ALLTOALL, algorithm, 0, rank());
    return submit(
        options, signature, Scripts.alltoall(plan, input, rowsFor, rank(), size(), results));
  }

  @Override
  public Handle<Void> barrier(CollectiveOptions options) {
    if (algorithms.sharesMemory() && SmallAllreduce.takes(meeting.bytes(), size())) {
      return submitSmall(
          Kind.BARRIER, options, barrierSignature, meeting, meeting, ReduceOp.MAX, null);
    }
    Plan plan = algorithms.plan(Kind.BARRIER, Repertoire.MEETING, 0, rank());
    return submit(options, barrierSignature, Scripts.barrier(plan, meeting.data()));
  }

  @Override
  public void abort(CommException cause) {
    if (aborted.compareAndSet(false, true)) {
      int self = group.world(group.rank());
      String words = group.self() + " aborted: " + cause.getMessage();
      var verdict = new CommException.Aborted(words, self, cause);
      collectives
          .commands()
          .submitUrgently(() -> collectives.failures().abort(group, verdict, self));
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      collectives.commands().submitUrgently(() -> collectives.close(group));
    }
  }

  private boolean isShared(Kind kind, CollectiveOptions options, long bytes) {
    return algorithms.isShared(kind, options.algorithm(), bytes);
  }

  /// By what; with shared memory, what is taken where that cannot be reached.
  private String choose(Kind kind, boolean shared, CollectiveOptions options, long bytes) {
    return shared
        ? algorithms.apart(kind, bytes)
        : algorithms.choose(kind, options.algorithm(), bytes);
  }

  private static String by(boolean shared, String algorithm) {
    return " by " + (shared ? Repertoire.SHARED : algorithm);
  }

  private Signature sign(Kind kind, TensorView tensor, String detail) {
    return Signature.of(kind, tensor.dtype(), tensor.shape(), detail, collectives.tuning());
  }

  /// Hot path.
  private <T> Handle<T> submit(PromptAllreduce<T> handle, CollectiveOptions options) {
    try {
      collectives.commands().defer(handle, limit(options));
    } catch (CommException full) {
      handle.operationName().giveBack();
      throw refused(handle.operationName(), full);
    } catch (RuntimeException | Error thrown) {
      handle.operationName().giveBack();
      throw thrown;
    }
    collectives.observer().onSubmitted(handle);
    return handle;
  }

  /// The plans of this rank, by the name of an algorithm.
  Function<String, Plan> plans(Kind kind) {
    return name -> algorithms.plan(kind, name, 0, rank());
  }

  Collectives collectives() {
    return collectives;
  }

  OperationNames names() {
    return names;
  }

  Group group() {
    return group;
  }

  Parting parting() {
    return parting;
  }

  Lane lane() {
    return lane;
  }

  Duration limit(CollectiveOptions options) {
    return options.deadline().isZero() ? defaultDeadline : options.deadline();
  }

  CommException refused(OperationName name, CommException full) {
    return new CommException.TimedOut(
        group.self() + ": operation '" + name + "' is refused: " + full.getMessage(), List.of());
  }

  private OperationName take(CollectiveOptions options) {
    OperationName name = names.tryTake(options.name());
    if (name != null) {
      return name;
    }
    throw new IllegalStateException(
        "an operation named '"
            + options.name()
            + "' is already in flight on this communicator of "
            + group.self()
            + "; await it first, or give this one another name");
  }

  private <T> Handle<T> submit(CollectiveOptions options, Signature signature, Script<T> script) {
    OperationName name;
    try {
      name = take(options);
    } catch (IllegalStateException inFlight) {
      script.discard();
      throw inFlight;
    }
    Operation<T> operation;
    PendingHandle<T> handle;
    try {
      Duration limit = limit(options);
      handle = new PendingHandle<>(this, name, signature);
      operation = new Operation<>(group, name, signature, script, handle, limit, lane.nanos());
      Operation<T> made = operation;
      collectives.commands().submit(() -> collectives.begin(made), limit);
    } catch (CommException full) {
      name.giveBack();
      script.discard();
      throw refused(name, full);
    } catch (RuntimeException | Error thrown) {
      name.giveBack();
      script.discard();
      throw thrown;
    }
    collectives.observer().onSubmitted(operation);
    return handle;
  }

  /// Why an operation can neither go on nor end any more.
  CommException ended() {
    CommException why = collectives.failures().of(group);
    return why == null ? Verdicts.closed(group) : why;
  }

  CommException softTimeout(OperationName name, Signature signature, Duration waited) {
    return new CommException.TimedOut(
        group.self()
            + ": "
            + signature.words()
            + " '"
            + name
            + "' is not done after "
            + Span.millis(waited)
            + " ms; it goes on, its tensors stay borrowed; await again, or lower its deadline",
        List.of());
  }

  private void checkRows(CollectiveOptions options, TensorView input, String aim) {
    check(options, !input.shape().dims().isEmpty(), () -> "a scalar has no rows to " + aim);
    try {
      var unused = Rows.rowBytes(input);
    } catch (IllegalArgumentException tooLong) {
      throw new IllegalArgumentException(
          "operation '"
              + options.name()
              + "': a row of "
              + input.signature()
              + " of "
              + group.self()
              + " is too long: "
              + tooLong.getMessage(),
          tooLong);
    }
  }

  /// Hot path.
  private static void checkInput(CollectiveOptions options, TensorView tensor) {
    LentMemory.checkReadable(options.name(), "input", tensor);
  }

  /// Hot path.
  private static void checkOutput(CollectiveOptions options, String role, TensorView tensor) {
    LentMemory.checkWritable(options.name(), role, tensor);
  }

  private static void checkApart(CollectiveOptions options, TensorView a, TensorView b) {
    long distance = a.data().address() - b.data().address();
    check(
        options,
        distance == 0 || Math.abs(distance) >= a.bytes(),
        () -> "input and output overlap; they must be the same memory or apart");
  }

  private static void check(CollectiveOptions options, boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new IllegalArgumentException("operation '" + options.name() + "': " + what.get());
    }
  }
}
