// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import io.weft.collective.Communicator.Received;
import io.weft.collective.exchange.OperationPlan;
import io.weft.collective.exchange.Stage;
import io.weft.collective.group.Group;
import io.weft.collective.message.BadCount;
import io.weft.collective.message.BufferLayout;
import io.weft.collective.message.Results;
import io.weft.collective.message.Rows;
import io.weft.collective.message.TwoStages;
import io.weft.collective.message.WireStage;
import io.weft.collective.plan.AlgorithmPlan;
import io.weft.collective.slot.MailboxStage;
import io.weft.collective.slot.SharedMailboxes;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The stages of each collective for ranks that share memory: stage 0 works on tensors where they
/// lie, stage 1 sends what that has left undone.
public final class MappedPlans {

  private MappedPlans() {}

  private static MappedReduceStage.Arithmetic arithmetic(DType dtype, ReduceOp op, int size) {
    return MappedReduceStage.Arithmetic.of(dtype, op, op == ReduceOp.AVERAGE ? size : 1);
  }

  /// Whether an allreduce of so many bytes needs no message, by `offered`, among so many members.
  public static boolean takesOffers(long bytes, int members) {
    return MailboxAllreduce.takes(bytes, members);
  }

  /// One that needs none, if all goes well; what is left goes as by `allreduce`.
  public static MailboxStage<TensorView> offered(
      SharedMailboxes mailboxes,
      Group group,
      TensorView input,
      TensorView output,
      ReduceOp op,
      String apart) {
    MappedReduceStage.Arithmetic sum = arithmetic(input.dtype(), op, group.size());
    return new MailboxAllreduce(mailboxes, group, input, output, sum, apart);
  }

  /// What is left goes by the algorithm `apart` where somebody's memory is private; else the slices
  /// of single ranks by a ring.
  ///
  /// @param plans by the name of an algorithm
  public static OperationPlan<TensorView> allreduce(
      Function<String, AlgorithmPlan> plans,
      String apart,
      TensorView input,
      TensorView output,
      ReduceOp op,
      int size) {
    MappedReduceStage.Arithmetic sum = arithmetic(input.dtype(), op, size);
    return allreduce(plans, apart, input, output, sum, size);
  }

  static OperationPlan<TensorView> allreduce(
      Function<String, AlgorithmPlan> plans,
      String apart,
      TensorView input,
      TensorView output,
      MappedReduceStage.Arithmetic sum,
      int size) {
    return new PipelinedAllreduce(
        plans.apply(apart), plans.apply("ring"), input, output, sum, size);
  }

  private static Stage combining(
      AlgorithmPlan plan, BufferLayout place, MappedReduceStage.Arithmetic sum) {
    return new WireStage(plan, place, sum.reducer(), sum.dtype(), sum.divisor());
  }

  /// What is left is combined in a scratch of the input's size: by `plan` where somebody's memory
  /// is private, else by `ring`.
  public static OperationPlan<TensorView> reduceScatter(
      AlgorithmPlan plan,
      AlgorithmPlan ring,
      TensorView input,
      TensorView output,
      ReduceOp op,
      Group group,
      Results results) {
    int rank = group.rank();
    int size = group.size();
    long[] each = Rows.even(input.shape().dims().getFirst(), size);
    long[] bytes = Rows.inBytes(each, Rows.rowBytes(input));
    long[] slices = Arrays.copyOf(Rows.starts(bytes), size + 1);
    slices[size] = input.bytes();
    MappedReduceStage.Arithmetic sum = arithmetic(input.dtype(), op, size);
    var shared = MappedReduceStage.reduceScatter(input.data(), output.data(), sum, slices);
    var scratch = new Kept();
    return new TwoStages<>(
        shared,
        () -> {
          if (shared.undone().isEmpty()) {
            return null;
          }
          TensorLease room = scratch.keep(results.allocate(input, input.shape()));
          BufferLayout place = shared.rest(room.view().data());
          return combining(shared.isPrivate() ? plan : ring, place, sum);
        },
        () -> {
          if (shared.undone().get(rank)) {
            MemorySegment combined = scratch.kept().view().data();
            output.data().copyFrom(combined.asSlice(slices[rank], bytes[rank]));
          }
          scratch.free();
          return output;
        },
        scratch::free);
  }

  /// A private tensor goes by `plan`.
  public static OperationPlan<TensorView> broadcast(
      AlgorithmPlan plan, TensorView inOut, int root, Group group) {
    int size = group.size();
    boolean isRoot = group.rank() == root;
    BitSet destinations = all(size);
    destinations.clear(root);
    long[] whole = new long[size];
    Arrays.fill(whole, isRoot ? 1 : 0);
    var gift =
        new OneSidedCopyStage.Gift(
            isRoot ? inOut.data() : MemorySegment.NULL, whole, new long[size], inOut.bytes());
    var copy =
        new OneSidedCopyStage(
            group, only(root), destinations, gift, told -> oneWhole(told[root], root, inOut));
    return new TwoStages<>(
        copy,
        () -> copy.isPrivate() ? WireStage.spreading(plan, inOut) : copy.rest(inOut.dtype()),
        () -> inOut,
        () -> {});
  }

  private static MemorySegment oneWhole(long told, int root, TensorView inOut) {
    if (told != 1) {
      throw new BadCount(root, told, inOut.bytes());
    }
    return inOut.data();
  }

  private static BitSet all(int size) {
    BitSet all = new BitSet(size);
    all.set(0, size);
    return all;
  }

  private static BitSet only(int member) {
    BitSet only = new BitSet();
    only.set(member);
    return only;
  }

  /// If all tensors are private they go by `plan`.
  public static OperationPlan<TensorLease> allgather(
      AlgorithmPlan plan, TensorView input, Group group, Results results) {
    int size = group.size();
    long[] rows = new long[size];
    Arrays.fill(rows, input.shape().dims().getFirst());
    var gift = new OneSidedCopyStage.Gift(input.data(), rows, new long[size], Rows.rowBytes(input));
    var gathered = new Kept();
    var copy =
        new OneSidedCopyStage(group, all(size), all(size), gift, gathered.room(input, results));
    return new TwoStages<>(
        copy,
        () ->
            copy.isPrivate()
                ? ofAll(plan, copy, input, group.rank(), gathered)
                : copy.rest(input.dtype()),
        gathered::kept,
        gathered::free);
  }

  private static Stage ofAll(
      AlgorithmPlan plan, OneSidedCopyStage copy, TensorView input, int rank, Kept gathered) {
    long[] bytes = Rows.inBytes(copy.told(), Rows.rowBytes(input));
    long[] source = new long[bytes.length];
    Arrays.fill(source, -1);
    source[rank] = 0;
    MemorySegment target = gathered.kept().view().data();
    BufferLayout place =
        new BufferLayout(input.data(), source, target, Rows.starts(bytes), bytes, true);
    return new WireStage(plan, place, null, input.dtype(), 1);
  }

  public static OperationPlan<Received> alltoall(
      TensorView input, List<Long> splits, Group group, Results results) {
    int size = group.size();
    long rowBytes = Rows.rowBytes(input);
    long[] rows = splits.stream().mapToLong(Long::longValue).toArray();
    long[] offset = Rows.starts(Rows.inBytes(rows, rowBytes));
    var gift = new OneSidedCopyStage.Gift(input.data(), rows, offset, rowBytes);
    var received = new Kept();
    var copy =
        new OneSidedCopyStage(group, all(size), all(size), gift, received.room(input, results));
    return new TwoStages<>(
        copy,
        () -> copy.rest(input.dtype()),
        () -> new Received(received.kept(), Arrays.stream(copy.told()).boxed().toList()),
        received::free);
  }

  /// A tensor that an operation allocates, and frees if it fails.
  private static final class Kept {

    private @Nullable TensorLease lease;

    TensorLease keep(TensorLease fresh) {
      lease = fresh;
      return fresh;
    }

    /// Room for what was told, rows by member, of tensors like this one.
    Function<long[], MemorySegment> room(TensorView like, Results results) {
      return told -> keep(results.gathered(like, told)).view().data();
    }

    TensorLease kept() {
      return Objects.requireNonNull(lease);
    }

    void free() {
      if (lease != null) {
        lease.close();
      }
    }
  }
}
