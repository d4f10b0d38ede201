// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.cluster.ProcessSet;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.collective.WireHook;
import io.weft.collective.choice.Choice;
import io.weft.collective.choice.Way;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Results;
import io.weft.collective.exchange.RowPartition;
import io.weft.collective.group.Group;
import io.weft.collective.group.OperationSignature;
import io.weft.collective.mailbox.MailboxAllreduce;
import io.weft.collective.mapped.MappedPlans;
import io.weft.collective.plan.AlgorithmSelection;
import io.weft.collective.plan.CollectiveKind;
import io.weft.collective.plan.RankSchedule;
import io.weft.collective.wire.WirePlans;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.comm.Handles;
import io.weft.memory.UserMemory;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.transport.Transport;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The communicator of user threads: checks requests, creates operations and passes them to the
/// progress thread. Thread-safe.
final class MeshCommunicator implements Communicator {

  private final Collectives collectives;
  private final Group group;
  private final AgentRunner runner;
  private final Duration defaultDeadline;
  private final AlgorithmSelection algorithms;
  private final TuningVersions tunings;
  private final Results results;
  private final Function<String, RankSchedule> allreduceSchedules;
  private final Function<String, RankSchedule> barrierSchedules;
  private final Function<String, RankSchedule> reduceScatterSchedules;
  private final Choice barrier;
  private final OperationSignature barrierSignature;
  private final TensorView barrierTensor =
      new TensorView(DType.UINT8, Shape.of(1), Arena.ofAuto().allocate(1));
  private final AtomicBoolean aborted = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final UserNames names;

  MeshCommunicator(
      Collectives collectives, Group group, AgentRunner runner, Duration defaultDeadline) {
    this.collectives = collectives;
    this.group = group;
    this.names = new UserNames(group.key());
    this.tunings = new TuningVersions(collectives.tuning());
    Transport transport = collectives.mesh().transport();
    this.algorithms =
        new AlgorithmSelection(
            collectives.table(),
            group.hosts(),
            group.mayShareMemory(transport),
            transport.capabilities().nativeOneSided());
    this.allreduceSchedules = schedules(CollectiveKind.ALLREDUCE);
    this.barrierSchedules = schedules(CollectiveKind.BARRIER);
    this.reduceScatterSchedules = schedules(CollectiveKind.REDUCE_SCATTER);
    this.barrier =
        algorithms.choose(CollectiveKind.BARRIER, Optional.empty(), barrierTensor.bytes());
    this.barrierSignature = sign(CollectiveKind.BARRIER, barrierTensor, "", barrier);
    boolean published = transport.capabilities().directAccess();
    this.results = new Results(published ? collectives.tensors() : null);
    this.runner = runner;
    this.defaultDeadline = defaultDeadline;
  }

  private Function<String, RankSchedule> schedules(CollectiveKind kind) {
    int rank = group.rank();
    return name -> algorithms.schedule(kind, name, 0, rank);
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
  public ProcessSet members() {
    return group.set();
  }

  @Override
  public boolean sharesMemory() {
    return algorithms.sharesMemory();
  }

  @Override
  public boolean fuses(long bytes) {
    return algorithms.fuses(bytes);
  }

  @Override
  public boolean mixes(long bytes) {
    return algorithms.mixes(bytes);
  }

  @Override
  public Communicator duplicate(String name) {
    return collectives.duplicate(group, name);
  }

  @Override
  public Handle<TensorView> allreduce(AllreduceRequest request) {
    checkMemory(request);
    PreparedOperation<TensorView> prepared = prepare(request, take(request.options()));
    prepared.submit();
    return prepared.handle();
  }

  @Override
  public Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests) {
    requests.forEach(MeshCommunicator::checkMemory);
    List<OperationName> taken = new ArrayList<>(requests.size());
    List<PreparedOperation<TensorView>> prepared = new ArrayList<>(requests.size());
    try {
      for (AllreduceRequest request : requests) {
        taken.add(take(request.options()));
      }
      for (int i = 0; i < requests.size(); i++) {
        prepared.add(prepare(requests.get(i), taken.get(i)));
      }
    } catch (RuntimeException | Error refused) {
      prepared.forEach(PreparedOperation::withdraw);
      int rest = prepared.size() + (taken.size() == requests.size() ? 1 : 0);
      taken.stream().skip(rest).forEach(OperationName::giveBack); // the failed one did so
      throw refused;
    }
    return submitAll(prepared);
  }

  private Handle<List<TensorView>> submitAll(List<PreparedOperation<TensorView>> prepared) {
    List<Handle<TensorView>> handles = new ArrayList<>(prepared.size());
    CommException refusal = null;
    for (PreparedOperation<TensorView> each : prepared) {
      if (refusal != null) {
        each.withdraw();
        continue;
      }
      try {
        each.submit();
        handles.add(each.handle());
      } catch (CommException full) {
        refusal = full;
      }
    }
    return Handles.all(handles, refusal, view -> {});
  }

  /// Prepares the tensor for the wire, and the operation. Gives the name back if it throws.
  private PreparedOperation<TensorView> prepare(AllreduceRequest request, OperationName name) {
    HookedTensor hooked = null;
    try {
      if (request.hook() == WireHook.NONE) {
        return prepareTensors(
            request, name, request.input(), request.output(), PendingHandle.CopyOut.none());
      }
      hooked = HookedTensor.copyIn(request, collectives.tensors());
      return prepareTensors(request, name, hooked.wire(), hooked.wire(), hooked);
    } catch (RuntimeException | Error thrown) {
      if (hooked != null) {
        hooked.end();
      }
      name.giveBack();
      throw thrown;
    }
  }

  /// Prepares the operation on the tensors as they are sent.
  private PreparedOperation<TensorView> prepareTensors(
      AllreduceRequest request,
      OperationName name,
      TensorView input,
      TensorView output,
      PendingHandle.CopyOut<TensorView> copyOut) {
    CollectiveOptions options = request.options();
    ReduceOp op = request.op();
    Choice choice = choose(CollectiveKind.ALLREDUCE, options, input.bytes());
    Choice onWire = onWire(CollectiveKind.ALLREDUCE, choice, input.bytes());
    OperationSignature signature =
        tunings.current().allreduce(input.dtype(), input.shape(), op, choice, onWire.segments());
    return switch (choice.way()) {
      case MAILBOX -> {
        var task = mailboxTask(input, output, op, output, allreduceSchedules);
        yield inline(new InlineOperation<>(this, name, options, signature, task, task, copyOut));
      }
      case MAPPED -> {
        var plan =
            MappedPlans.allreduce(
                mapped(CollectiveKind.ALLREDUCE, allreduceSchedules, choice, onWire, input.bytes()),
                input,
                output,
                op);
        yield inline(
            new InlineOperation<>(this, name, options, signature, plan.first(), plan, copyOut));
      }
      case WIRE -> {
        RankSchedule schedule = allreduceSchedules.apply(choice.algorithm());
        yield operation(
            options,
            name,
            signature,
            WirePlans.allreduce(schedule, input, output, op, size()),
            copyOut);
      }
    };
  }

  /// Returns the context of a reduction on the memory of all ranks, for tensors of this length.
  private MappedPlans.Context mapped(
      CollectiveKind kind,
      Function<String, RankSchedule> schedules,
      Choice choice,
      Choice onWire,
      long bytes) {
    return new MappedPlans.Context(
        collectives.mailboxes(),
        group,
        schedules,
        algorithms.afterMapped(kind, onWire),
        algorithms.afterMappedSlices(kind),
        choice.segments(),
        algorithms.bounced(kind, bytes));
  }

  /// Hot path.
  private <T> MailboxAllreduce<T> mailboxTask(
      TensorView input,
      TensorView output,
      ReduceOp op,
      @Nullable T result,
      Function<String, RankSchedule> schedules) {
    return new MailboxAllreduce<>(
        collectives.mailboxes(),
        input.data(),
        output,
        Kernels.reducer(input.dtype(), op),
        op == ReduceOp.AVERAGE ? size() : 1,
        result,
        schedules);
  }

  @Override
  public Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    Objects.requireNonNull(op, "op");
    checkInput(options, input);
    checkOutput(options, "output", output);
    checkRows(options, input, "scatter");
    long rows = RowPartition.even(input.shape().dims().getFirst(), size())[rank()];
    Shape mine = input.shape().withFirst(rows);
    check(
        options,
        output.dtype() == input.dtype() && output.shape().equals(mine),
        () -> "output is " + output.signature() + ", expected " + input.dtype() + mine);
    Choice choice = choose(CollectiveKind.REDUCE_SCATTER, options, input.bytes());
    Choice onWire = onWire(CollectiveKind.REDUCE_SCATTER, choice, input.bytes());
    OperationSignature signature = sign(CollectiveKind.REDUCE_SCATTER, input, op + "", choice);
    if (choice.way() == Way.WIRE) {
      RankSchedule schedule = reduceScatterSchedules.apply(choice.algorithm());
      return submit(
          options, signature, WirePlans.reduceScatter(schedule, input, output, op, rank(), size()));
    }
    MappedPlans.Context context =
        mapped(
            CollectiveKind.REDUCE_SCATTER, reduceScatterSchedules, choice, onWire, input.bytes());
    return submit(
        options, signature, MappedPlans.reduceScatter(context, input, output, op, results));
  }

  @Override
  public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
    checkInput(options, input);
    checkRows(options, input, "gather");
    Choice choice = choose(CollectiveKind.ALLGATHER, options, input.bytes());
    Choice onWire = onWire(CollectiveKind.ALLGATHER, choice, input.bytes());
    RankSchedule data =
        algorithms.schedule(CollectiveKind.ALLGATHER, onWire.algorithm(), 0, rank());
    OperationSignature signature = sign(CollectiveKind.ALLGATHER, input, "", choice);
    if (choice.way() == Way.MAPPED) {
      return submit(
          options,
          signature,
          MappedPlans.allgather(data, input, group, results, choice.segments().bytes()));
    }
    RankSchedule counts = algorithms.schedule(CollectiveKind.ALLGATHER, "direct", 0, rank());
    return submit(
        options, signature, WirePlans.allgather(counts, data, input, rank(), size(), results));
  }

  @Override
  public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
    checkOutput(options, "tensor", inOut);
    check(
        options, root >= 0 && root < size(), () -> "root " + root + " is not a rank of " + size());
    Choice choice = choose(CollectiveKind.BROADCAST, options, inOut.bytes());
    Choice onWire = onWire(CollectiveKind.BROADCAST, choice, inOut.bytes());
    RankSchedule schedule =
        algorithms.schedule(CollectiveKind.BROADCAST, onWire.algorithm(), root, rank());
    return submit(
        options,
        sign(CollectiveKind.BROADCAST, inOut, "from " + root, choice),
        choice.way() == Way.MAPPED
            ? MappedPlans.broadcast(schedule, inOut, root, group, choice.segments().bytes())
            : WirePlans.broadcast(schedule, inOut));
  }

  @Override
  public Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options) {
    checkInput(options, input);
    checkRows(options, input, "send");
    long rows = input.shape().dims().getFirst();
    check(
        options,
        splits.size() == size() && RowPartition.isDivision(splits, rows),
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
    RankSchedule schedule =
        algorithms.schedule(CollectiveKind.ALLTOALL, choice.algorithm(), 0, rank());
    return submit(
        options, signature, WirePlans.alltoall(schedule, input, rowsFor, rank(), size(), results));
  }

  @Override
  public boolean progress(BooleanSupplier until, Duration limit) {
    Objects.requireNonNull(until, "until");
    Objects.requireNonNull(limit, "limit");
    AgentRunner runner = runner();
    if (runner.isInside()) {
      throw new IllegalStateException("progress in a callback of " + group().self());
    }
    return runner.drive(until, runner.nanos() + ClampedDuration.nanos(limit));
  }

  @Override
  public Tuning tuning() {
    return tunings.current().tuning();
  }

  /// Leaves operations in flight unaffected, because each keeps its signature.
  @Override
  public Handle<Void> tune(Tuning next) {
    Objects.requireNonNull(next, "tuning");
    TuningVersions.Change<Void> change = tunings.change(next);
    Signatures before = change.before();
    try {
      OperationSignature signature =
          before.of(
              CollectiveKind.BARRIER,
              barrierTensor,
              "to tuning " + (before.version() + 1) + ", " + next,
              barrier,
              barrierSignature.segments());
      return submitBarrier(CollectiveOptions.named("weft/tuning"), signature, change);
    } catch (RuntimeException | Error thrown) {
      change.end();
      throw thrown;
    }
  }

  @Override
  public Handle<Void> barrier(CollectiveOptions options) {
    return submitBarrier(options, barrierSignature, PendingHandle.CopyOut.none());
  }

  private Handle<Void> submitBarrier(
      CollectiveOptions options,
      OperationSignature signature,
      PendingHandle.CopyOut<Void> copyOut) {
    if (barrier.way() == Way.MAILBOX) {
      MailboxAllreduce<Void> task =
          mailboxTask(barrierTensor, barrierTensor, ReduceOp.MAX, null, barrierSchedules);
      PreparedOperation<Void> prepared =
          inline(
              new InlineOperation<>(this, take(options), options, signature, task, task, copyOut));
      prepared.submit();
      return prepared.handle();
    }
    RankSchedule schedule = barrierSchedules.apply(barrier.algorithm());
    PreparedOperation<Void> prepared =
        operation(
            options,
            take(options),
            signature,
            WirePlans.barrier(schedule, barrierTensor.data()),
            copyOut);
    prepared.submit();
    return prepared.handle();
  }

  @Override
  public void abort(CommException cause) {
    Objects.requireNonNull(cause, "cause");
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

  /// Returns the choice on the wire, which also serves if the memory to be shared cannot be
  /// accessed.
  ///
  /// Hot path.
  private Choice onWire(CollectiveKind kind, Choice choice, long bytes) {
    return choice.way() == Way.WIRE ? choice : algorithms.onWire(kind, bytes);
  }

  private OperationSignature sign(
      CollectiveKind kind, TensorView tensor, String detail, Choice choice) {
    Choice onWire = onWire(kind, choice, tensor.bytes());
    return tunings.current().of(kind, tensor, detail, choice, onWire.segments());
  }

  Collectives collectives() {
    return collectives;
  }

  UserNames names() {
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
    String words = group.self() + ": operation '" + name + "' is refused: " + full.getMessage();
    return full instanceof CommException.Aborted
        ? new CommException.Aborted(words, full)
        : new CommException.TimedOut(words, List.of());
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
    PreparedOperation<T> prepared =
        operation(options, name, signature, plan, PendingHandle.CopyOut.none());
    prepared.submit();
    return prepared.handle();
  }

  private <T> PreparedOperation<T> operation(
      CollectiveOptions options,
      OperationName name,
      OperationSignature signature,
      OperationPlan<T> plan,
      PendingHandle.CopyOut<T> copyOut) {
    var handle = new PendingHandle<T>(this, name, signature, copyOut);
    var operation = new Operation<>(plan, handle, limit(options), runner.nanos());
    handle.belongsTo(operation);
    return operation;
  }

  private static <T> PreparedOperation<T> inline(InlineOperation<T> operation) {
    operation.belongsTo(operation);
    return operation;
  }

  /// Returns the cause for which an operation can neither continue nor end any more.
  CommException ended() {
    CommException why = collectives.failures().of(group);
    return why == null ? FailureMessages.closed(group) : why;
  }

  private void checkRows(CollectiveOptions options, TensorView input, String aim) {
    check(options, !input.shape().dims().isEmpty(), () -> "a scalar has no rows to " + aim);
    try {
      var unused = RowPartition.rowBytes(input);
    } catch (IllegalArgumentException tooLong) {
      throw new IllegalArgumentException(
          "operation '%s': a row of %s of %s is too long: %s"
              .formatted(options.name(), input.signature(), group.self(), tooLong.getMessage()),
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
