// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.collective.WireHook;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.Way;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.group.Group;
import io.weft.collective.group.OperationSignature;
import io.weft.collective.mailbox.MailboxReduce;
import io.weft.collective.mapped.MappedPlans;
import io.weft.collective.plan.AlgorithmPlan;
import io.weft.collective.plan.AlgorithmSelection;
import io.weft.collective.plan.CollectiveKind;
import io.weft.collective.wire.Results;
import io.weft.collective.wire.Rows;
import io.weft.collective.wire.WirePlans;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.memory.UserMemory;
import io.weft.observer.ObservedOperation;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.transport.Transport;
import io.weft.transport.limit.Span;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The communicator that users hold: checks what they ask for, makes an operation of it and hands
/// it to the progress thread. Thread-safe.
final class MeshCommunicator implements Communicator {

  private final Collectives collectives;
  private final Group group;
  private final AgentRunner runner;
  private final Duration defaultDeadline;
  private final AlgorithmSelection algorithms;
  private final TuningVersions tunings;
  private final Results results;
  private final Function<String, AlgorithmPlan> allreducePlans;
  private final Function<String, AlgorithmPlan> barrierPlans;
  private final Choice barrier;
  private final OperationSignature barrierSignature;
  private final TensorView meeting =
      new TensorView(DType.UINT8, Shape.of(1), Arena.ofAuto().allocate(1));
  private final AtomicBoolean aborted = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final OperationNames names;

  MeshCommunicator(
      Collectives collectives, Group group, AgentRunner runner, Duration defaultDeadline) {
    this.collectives = collectives;
    this.group = group;
    this.names = new OperationNames(group.key());
    this.tunings = new TuningVersions(collectives.tuning());
    Transport transport = collectives.mesh().transport();
    this.algorithms =
        new AlgorithmSelection(
            collectives.table(),
            group.hosts(),
            group.mayShareMemory(transport),
            transport.capabilities().nativeOneSided());
    this.allreducePlans = name -> algorithms.plan(CollectiveKind.ALLREDUCE, name, 0, group.rank());
    this.barrierPlans = name -> algorithms.plan(CollectiveKind.BARRIER, name, 0, group.rank());
    this.barrier = algorithms.choose(CollectiveKind.BARRIER, Optional.empty(), meeting.bytes());
    this.barrierSignature = sign(CollectiveKind.BARRIER, meeting, "", barrier);
    boolean published = transport.capabilities().directAccess();
    this.results = new Results(published ? collectives.tensors() : null);
    this.runner = runner;
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
  public Handle<TensorView> allreduce(AllreduceRequest request) {
    checkMemory(request);
    Prepared<TensorView> prepared = prepare(request, take(request.options()));
    prepared.submit();
    return prepared.handle();
  }

  @Override
  public Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests) {
    requests.forEach(MeshCommunicator::checkMemory);
    List<OperationName> taken = new ArrayList<>(requests.size());
    List<Prepared<TensorView>> prepared = new ArrayList<>(requests.size());
    try {
      for (AllreduceRequest request : requests) {
        taken.add(take(request.options()));
      }
      for (int i = 0; i < requests.size(); i++) {
        prepared.add(prepare(requests.get(i), taken.get(i)));
      }
    } catch (RuntimeException | Error refused) {
      prepared.forEach(Prepared::withdraw);
      int rest = prepared.size() + (taken.size() == requests.size() ? 1 : 0);
      taken.stream().skip(rest).forEach(OperationName::giveBack); // who failed gave back its own
      throw refused;
    }
    return submitAll(prepared);
  }

  private Handle<List<TensorView>> submitAll(List<Prepared<TensorView>> prepared) {
    List<PendingHandle<TensorView>> handles = new ArrayList<>(prepared.size());
    for (int i = 0; i < prepared.size(); i++) {
      try {
        prepared.get(i).submit();
      } catch (CommException full) {
        prepared.subList(i + 1, prepared.size()).forEach(Prepared::withdraw);
        return new HandleGroup<>(handles, runner, full);
      }
      handles.add(prepared.get(i).handle());
    }
    return new HandleGroup<>(handles, runner, null);
  }

  /// Has the tensor ready for the wire, and all that the operation needs; gives back the name if it
  /// throws.
  private Prepared<TensorView> prepare(AllreduceRequest request, OperationName name) {
    HookedTensor hooked = null;
    try {
      if (request.hook() == WireHook.NONE) {
        return prepare(
            request, name, request.input(), request.output(), PendingHandle.CopyOut.none());
      }
      hooked = HookedTensor.copyIn(request, collectives.tensors());
      return prepare(request, name, hooked.wire(), hooked.wire(), hooked);
    } catch (RuntimeException | Error thrown) {
      if (hooked != null) {
        hooked.end();
      }
      name.giveBack();
      throw thrown;
    }
  }

  private Prepared<TensorView> prepare(
      AllreduceRequest request,
      OperationName name,
      TensorView input,
      TensorView output,
      PendingHandle.CopyOut<TensorView> copyOut) {
    CollectiveOptions options = request.options();
    ReduceOp op = request.op();
    Choice choice = choose(CollectiveKind.ALLREDUCE, options, input.bytes());
    Choice apart = apart(CollectiveKind.ALLREDUCE, choice, input.bytes());
    OperationSignature signature =
        tunings.current().allreduce(input.dtype(), input.shape(), op, choice, apart.segments());
    return switch (choice.way()) {
      case MAILBOX -> {
        var task = small(input, output, op, output, allreducePlans);
        yield prepared(
            new InlineAllreduce<>(this, name, options, signature, task, task, copyOut), options);
      }
      case MAPPED -> {
        var plan =
            MappedPlans.allreduce(
                mapped(CollectiveKind.ALLREDUCE, choice, apart, input.bytes()), input, output, op);
        yield prepared(
            new InlineAllreduce<>(this, name, options, signature, plan.first(), plan, copyOut),
            options);
      }
      case WIRE -> {
        AlgorithmPlan plan =
            algorithms.plan(CollectiveKind.ALLREDUCE, choice.algorithm(), 0, rank());
        yield prepared(
            options,
            name,
            signature,
            WirePlans.allreduce(plan, input, output, op, size()),
            copyOut);
      }
    };
  }

  /// What a reduction on the memory of all needs, of tensors of so many bytes.
  private MappedPlans.Context mapped(CollectiveKind kind, Choice choice, Choice apart, long bytes) {
    return new MappedPlans.Context(
        collectives.mailboxes(),
        group,
        algorithms.plan(kind, apart.algorithm(), 0, rank()),
        algorithms.plan(kind, "ring", 0, rank()),
        choice.segments(),
        algorithms.bounced(kind, bytes));
  }

  /// Hot path.
  private <T> MailboxReduce<T> small(
      TensorView input,
      TensorView output,
      ReduceOp op,
      @Nullable T result,
      Function<String, AlgorithmPlan> plans) {
    return new MailboxReduce<>(
        collectives.mailboxes(),
        input.data(),
        output,
        Kernels.reducer(input.dtype(), op),
        op == ReduceOp.AVERAGE ? size() : 1,
        result,
        plans);
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
    Choice choice = choose(CollectiveKind.REDUCE_SCATTER, options, input.bytes());
    Choice apart = apart(CollectiveKind.REDUCE_SCATTER, choice, input.bytes());
    AlgorithmPlan plan =
        algorithms.plan(CollectiveKind.REDUCE_SCATTER, apart.algorithm(), 0, rank());
    OperationSignature signature = sign(CollectiveKind.REDUCE_SCATTER, input, op + "", choice);
    if (choice.way() == Way.WIRE) {
      return submit(
          options, signature, WirePlans.reduceScatter(plan, input, output, op, rank(), size()));
    }
    MappedPlans.Context context =
        mapped(CollectiveKind.REDUCE_SCATTER, choice, apart, input.bytes());
    return submit(
        options, signature, MappedPlans.reduceScatter(context, input, output, op, results));
  }

  @Override
  public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
    checkInput(options, input);
    checkRows(options, input, "gather");
    Choice choice = choose(CollectiveKind.ALLGATHER, options, input.bytes());
    Choice apart = apart(CollectiveKind.ALLGATHER, choice, input.bytes());
    AlgorithmPlan data = algorithms.plan(CollectiveKind.ALLGATHER, apart.algorithm(), 0, rank());
    OperationSignature signature = sign(CollectiveKind.ALLGATHER, input, "", choice);
    if (choice.way() == Way.MAPPED) {
      return submit(
          options,
          signature,
          MappedPlans.allgather(data, input, group, results, choice.segments().bytes()));
    }
    AlgorithmPlan counts = algorithms.plan(CollectiveKind.ALLGATHER, "direct", 0, rank());
    return submit(
        options, signature, WirePlans.allgather(counts, data, input, rank(), size(), results));
  }

  @Override
  public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
    checkOutput(options, "tensor", inOut);
    check(
        options, root >= 0 && root < size(), () -> "root " + root + " is not a rank of " + size());
    Choice choice = choose(CollectiveKind.BROADCAST, options, inOut.bytes());
    Choice apart = apart(CollectiveKind.BROADCAST, choice, inOut.bytes());
    AlgorithmPlan plan = algorithms.plan(CollectiveKind.BROADCAST, apart.algorithm(), root, rank());
    return submit(
        options,
        sign(CollectiveKind.BROADCAST, inOut, "from " + root, choice),
        choice.way() == Way.MAPPED
            ? MappedPlans.broadcast(plan, inOut, root, group, choice.segments().bytes())
            : WirePlans.broadcast(plan, inOut));
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
    Choice choice = choose(CollectiveKind.ALLTOALL, options, input.bytes());
    List<Long> rowsFor = List.copyOf(splits);
    OperationSignature signature = sign(CollectiveKind.ALLTOALL, input, "", choice);
    if (choice.way() == Way.MAPPED) {
      return submit(
          options,
          signature,
          MappedPlans.alltoall(input, rowsFor, group, results, choice.segments().bytes()));
    }
    AlgorithmPlan plan = algorithms.plan(CollectiveKind.ALLTOALL, choice.algorithm(), 0, rank());
    return submit(
        options, signature, WirePlans.alltoall(plan, input, rowsFor, rank(), size(), results));
  }

  @Override
  public Tuning tuning() {
    return tunings.current().tuning();
  }

  /// Operations keep the signature with which they were submitted, so nothing that is under way has
  /// to end for this.
  @Override
  public Handle<Void> tune(Tuning next) {
    TuningVersions.Change<Void> change = tunings.change(next);
    Signatures before = change.before();
    try {
      OperationSignature signature =
          before.of(
              CollectiveKind.BARRIER,
              meeting,
              "to tuning " + (before.version() + 1) + ", " + next,
              barrier,
              barrierSignature.segments());
      return meet(CollectiveOptions.named("weft/tuning"), signature, change);
    } catch (RuntimeException | Error thrown) {
      change.end();
      throw thrown;
    }
  }

  @Override
  public Handle<Void> barrier(CollectiveOptions options) {
    return meet(options, barrierSignature, PendingHandle.CopyOut.none());
  }

  private Handle<Void> meet(
      CollectiveOptions options,
      OperationSignature signature,
      PendingHandle.CopyOut<Void> copyOut) {
    if (barrier.way() == Way.MAILBOX) {
      MailboxReduce<Void> task = small(meeting, meeting, ReduceOp.MAX, null, barrierPlans);
      Prepared<Void> prepared =
          prepared(
              new InlineAllreduce<>(this, take(options), options, signature, task, task, copyOut),
              options);
      prepared.submit();
      return prepared.handle();
    }
    AlgorithmPlan plan = algorithms.plan(CollectiveKind.BARRIER, barrier.algorithm(), 0, rank());
    Prepared<Void> prepared =
        prepared(
            options, take(options), signature, WirePlans.barrier(plan, meeting.data()), copyOut);
    prepared.submit();
    return prepared.handle();
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

  /// Hot path.
  private Choice choose(CollectiveKind kind, CollectiveOptions options, long bytes) {
    return algorithms.choose(kind, options.algorithm(), bytes);
  }

  /// What is taken on the wire, where memory that is to be shared cannot be reached too.
  ///
  /// Hot path.
  private Choice apart(CollectiveKind kind, Choice choice, long bytes) {
    return choice.way() == Way.WIRE ? choice : algorithms.apart(kind, bytes);
  }

  private OperationSignature sign(
      CollectiveKind kind, TensorView tensor, String detail, Choice choice) {
    Choice apart = apart(kind, choice, tensor.bytes());
    return tunings.current().of(kind, tensor, detail, choice, apart.segments());
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

  AgentRunner runner() {
    return runner;
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

  private <T> Handle<T> submit(
      CollectiveOptions options, OperationSignature signature, OperationPlan<T> plan) {
    OperationName name;
    try {
      name = take(options);
    } catch (IllegalStateException inFlight) {
      plan.discard();
      throw inFlight;
    }
    Prepared<T> prepared = prepared(options, name, signature, plan, PendingHandle.CopyOut.none());
    prepared.submit();
    return prepared.handle();
  }

  private <T> Prepared<T> prepared(
      CollectiveOptions options,
      OperationName name,
      OperationSignature signature,
      OperationPlan<T> plan,
      PendingHandle.CopyOut<T> copyOut) {
    var handle = new PendingHandle<T>(this, name, signature, copyOut);
    Duration limit = limit(options);
    var operation = new Operation<>(group, name, signature, plan, handle, limit, runner.nanos());
    handle.belongsTo(operation);
    return new Prepared<>(handle, operation, limit);
  }

  private <T> Prepared<T> prepared(InlineAllreduce<T> handle, CollectiveOptions options) {
    handle.belongsTo(handle);
    return new Prepared<>(handle, null, limit(options));
  }

  /// What is ready to be submitted.
  ///
  /// @param operation null where the handle makes it, if there need be one
  private record Prepared<T>(
      PendingHandle<T> handle, @Nullable Operation<T> operation, Duration limit) {

    /// Throws `TimedOut` if there is no room for it; it is withdrawn then.
    void submit() {
      try {
        handle.owner().submit(this);
      } catch (CommException full) {
        CommException cause = handle.owner().refused(handle.operationName(), full);
        handle.owner().tellWithdrawn(this, cause);
        withdraw();
        throw cause;
      } catch (RuntimeException | Error thrown) {
        withdraw();
        throw thrown;
      }
    }

    /// It is not submitted: ends what it has.
    void withdraw() {
      if (operation != null) {
        operation.withdraw();
      }
      handle.withdraw();
    }
  }

  private void submit(Prepared<?> prepared) {
    Operation<?> operation = prepared.operation();
    if (operation != null) {
      collectives.observer().submitted(operation);
      collectives.commands().submit(() -> collectives.begin(operation), prepared.limit());
    } else if (prepared.handle() instanceof InlineAllreduce<?> inline) {
      collectives.observer().submitted(inline);
      collectives.commands().defer(inline, prepared.limit());
    }
  }

  private void tellWithdrawn(Prepared<?> prepared, CommException cause) {
    ObservedOperation operation =
        prepared.handle() instanceof InlineAllreduce<?> inline ? inline : prepared.operation();
    if (operation != null) {
      collectives.observer().withdrawn(operation, cause, runner.nanos());
    }
  }

  /// Why an operation can neither go on nor end any more.
  CommException ended() {
    CommException why = collectives.failures().of(group);
    return why == null ? FailureMessages.closed(group) : why;
  }

  CommException softTimeout(OperationName name, OperationSignature signature, Duration waited) {
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
  private static void checkMemory(AllreduceRequest request) {
    checkInput(request.options(), request.input());
    checkOutput(request.options(), "output", request.output());
  }

  /// Hot path.
  private static void checkInput(CollectiveOptions options, TensorView tensor) {
    UserMemory.checkReadable(options.name(), "input", tensor);
  }

  /// Hot path.
  private static void checkOutput(CollectiveOptions options, String role, TensorView tensor) {
    UserMemory.checkWritable(options.name(), role, tensor);
  }

  private static void check(CollectiveOptions options, boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new IllegalArgumentException("operation '" + options.name() + "': " + what.get());
    }
  }
}
