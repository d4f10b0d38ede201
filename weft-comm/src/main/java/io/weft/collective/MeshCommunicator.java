// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.CommException;
import io.weft.Handle;
import io.weft.agent.Lane;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/// The communicator that users hold: checks what they ask for, makes an operation of it and hands
/// it to the lane. Thread-safe.
final class MeshCommunicator implements Communicator {

  private final Collectives collectives;
  private final Group group;
  private final Lane lane;
  private final Duration defaultDeadline;
  private final Algorithms algorithms;
  private final boolean mayShareMemory;
  private final Signatures signatures;
  private final Signature barrierSignature;
  private final MemorySegment zero = Arena.ofAuto().allocate(1);
  private final AtomicBoolean aborted = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Set<String> inFlight = ConcurrentHashMap.newKeySet();

  MeshCommunicator(Collectives collectives, Group group, Lane lane, Duration defaultDeadline) {
    this.collectives = collectives;
    this.group = group;
    this.signatures = new Signatures(collectives.tuning());
    this.barrierSignature =
        Signature.of(Kind.BARRIER, DType.UINT8, Shape.of(1), "", collectives.tuning());
    this.mayShareMemory = group.mayShareMemory(collectives.mesh().transport());
    this.algorithms = new Algorithms(group.hosts());
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
    check(options, input.dtype() == output.dtype(), "output is " + output.signature());
    check(options, input.shape().equals(output.shape()), "output is " + output.signature());
    checkApart(options, input, output);
    boolean shared = Algorithms.isShared(options.algorithm(), input.bytes(), mayShareMemory);
    Optional<String> wanted = shared ? Optional.empty() : options.algorithm();
    String algorithm = algorithms.choose(Kind.ALLREDUCE, wanted, input.bytes());
    Plan plan = algorithms.plan(Kind.ALLREDUCE, algorithm, 0, rank());
    Signature signature =
        signatures.allreduce(
            input.dtype(), input.shape(), op, shared ? Algorithms.SHARED : algorithm);
    if (!shared) {
      return submit(options, signature, Scripts.allreduce(plan, input, output, op, size()));
    }
    Plan ring = algorithms.plan(Kind.ALLREDUCE, "ring", 0, rank());
    return submit(
        options, signature, Scripts.sharedAllreduce(plan, ring, input, output, op, size()));
  }

  @Override
  public Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    check(options, !input.shape().dims().isEmpty(), "a scalar has no rows to scatter");
    long rows = Scripts.evenRows(input.shape().dims().getFirst(), size())[rank()];
    Shape mine = input.shape().withFirst(rows);
    check(
        options,
        output.dtype() == input.dtype() && output.shape().equals(mine),
        "output is " + output.signature() + ", expected " + input.dtype() + mine);
    String algorithm = algorithms.choose(Kind.REDUCE_SCATTER, options.algorithm(), input.bytes());
    Plan plan = algorithms.plan(Kind.REDUCE_SCATTER, algorithm, 0, rank());
    Signature signature =
        Signature.of(
            Kind.REDUCE_SCATTER,
            input.dtype(),
            input.shape(),
            op + " by " + algorithm,
            collectives.tuning());
    return submit(
        options, signature, Scripts.reduceScatter(plan, input, output, op, rank(), size()));
  }

  @Override
  public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
    check(options, !input.shape().dims().isEmpty(), "a scalar has no rows to gather");
    String algorithm = algorithms.choose(Kind.ALLGATHER, options.algorithm(), input.bytes());
    Plan counts = algorithms.plan(Kind.ALLGATHER, "direct", 0, rank());
    Plan data = algorithms.plan(Kind.ALLGATHER, algorithm, 0, rank());
    Signature signature =
        Signature.of(
            Kind.ALLGATHER, input.dtype(), input.shape(), "by " + algorithm, collectives.tuning());
    return submit(options, signature, Scripts.allgather(counts, data, input, rank(), size()));
  }

  @Override
  public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
    check(options, root >= 0 && root < size(), "root " + root + " is not a rank of " + size());
    String algorithm = algorithms.choose(Kind.BROADCAST, options.algorithm(), inOut.bytes());
    Plan plan = algorithms.plan(Kind.BROADCAST, algorithm, root, rank());
    Signature signature =
        Signature.of(
            Kind.BROADCAST,
            inOut.dtype(),
            inOut.shape(),
            "from " + root + " by " + algorithm,
            collectives.tuning());
    return submit(options, signature, Scripts.broadcast(plan, inOut));
  }

  @Override
  public Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options) {
    check(options, !input.shape().dims().isEmpty(), "a scalar has no rows to send");
    long rows = input.shape().dims().getFirst();
    check(
        options,
        splits.size() == size()
            && splits.stream().allMatch(s -> s >= 0)
            && splits.stream().mapToLong(Long::longValue).sum() == rows,
        "splits " + splits + " are not " + size() + " counts that sum to " + rows + " rows");
    Plan plan = algorithms.plan(Kind.ALLTOALL, "direct", 0, rank());
    Signature signature =
        Signature.of(Kind.ALLTOALL, input.dtype(), input.shape(), "", collectives.tuning());
    return submit(
        options, signature, Scripts.alltoall(plan, input, List.copyOf(splits), rank(), size()));
  }

  @Override
  public Handle<Void> barrier(CollectiveOptions options) {
    Plan plan = algorithms.plan(Kind.BARRIER, "recursive-doubling", 0, rank());
    return submit(options, barrierSignature, Scripts.barrier(plan, zero));
  }

  @Override
  public void abort(CommException cause) {
    if (aborted.compareAndSet(false, true)) {
      int self = group.world(group.rank());
      String words = group.self() + " aborted: " + cause.getMessage();
      var verdict = new CommException.Aborted(words, self, cause);
      collectives.commands().submitUrgently(() -> collectives.abort(group, verdict, self));
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      collectives.commands().submitUrgently(() -> collectives.close(group));
    }
  }

  private <T> Handle<T> submit(CollectiveOptions options, Signature signature, Script<T> script) {
    if (!inFlight.add(options.name())) {
      script.discard();
      throw new IllegalStateException(
          "an operation named '"
              + options.name()
              + "' is already in flight on this communicator of "
              + group.self()
              + "; await it first, or give this one another name");
    }
    Duration limit = options.deadline().isZero() ? defaultDeadline : options.deadline();
    PendingHandle<T> handle =
        new PendingHandle<>(lane, waited -> softTimeout(options.name(), signature, waited));
    Operation<T> operation =
        new Operation<>(group, options.name(), signature, script, handle, limit, lane.nanos());
    handle.beforeDone(() -> inFlight.remove(options.name()));
    try {
      collectives.commands().submit(() -> collectives.begin(operation), limit);
    } catch (CommException full) {
      inFlight.remove(options.name());
      script.discard();
      throw full;
    }
    collectives.observer().onSubmitted(operation);
    return handle;
  }

  private CommException softTimeout(String name, Signature signature, Duration waited) {
    return new CommException.TimedOut(
        group.self()
            + ": "
            + signature.words()
            + " '"
            + name
            + "' is not done after "
            + waited.toMillis()
            + " ms; it goes on, its tensors stay borrowed; await again, or lower its deadline",
        List.of());
  }

  private static void checkApart(CollectiveOptions options, TensorView a, TensorView b) {
    long distance = a.data().address() - b.data().address();
    check(
        options,
        distance == 0 || Math.abs(distance) >= a.bytes(),
        "input and output overlap; they must be the same memory or apart");
  }

  private static void check(CollectiveOptions options, boolean holds, String what) {
    if (!holds) {
      throw new IllegalArgumentException("operation '" + options.name() + "': " + what);
    }
  }
}
