// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.cluster.ProcessSet;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/// Collectives over one process set in one epoch. Thread-safe. Every rank must submit the same
/// names; the order is free, as long as no rank has more operations under way than fit: 16,384 of
/// short tensors, 3,072 of those above 64 KiB. Who submits more waits for room, and is refused with
/// `TimedOut` when none ends. Tensors are borrowed until the handle completes. A rank that
/// disagrees on shape, dtype or operation fails the operation on all ranks with `Mismatch`, soon,
/// and the communicator works on; a lost peer or a passed deadline aborts it. Only of a broadcast a
/// rank may have completed then: one that agrees with whom it has the tensor from, and with those
/// to whom it has handed it on. A rank that loses its tensor fails the operation with `Broken`, in
/// the same way.
///
/// Other threads work on tensors: throws `IllegalArgumentException` for one in an arena that is
/// closed or confined to a thread, and for an output that is read-only. Inputs may be read-only.
/// Who closes an arena under an operation fails that operation (over TCP, in the middle of a long
/// tensor, the connection too), or is refused by `Arena.close` while its memory is being worked on.
public interface Communicator extends AutoCloseable {

  /// This process's rank in the set.
  int rank();

  /// Ranks in the set.
  int size();

  /// World ranks of the set: at position r, that of the set's rank r.
  default ProcessSet members() {
    return ProcessSet.world(size());
  }

  /// Whether all ranks reach each other's memory: of one host, over a transport that gives it. The
  /// same on all ranks.
  default boolean sharesMemory() {
    return false;
  }

  /// Returns whether tensors of this length arrive sooner where several share a buffer than each by
  /// itself, by the rule table. The same on all ranks.
  default boolean fuses(long bytes) {
    return true;
  }

  /// Returns another communicator of the same ranks, whose operations meet only those of duplicates
  /// that were made by the same name: MPI's `MPI_Comm_dup`. All ranks make it, those of one name in
  /// the same order, those of different names in any order and on any thread. The caller owns it.
  /// It waits for no rank. Throws `IllegalArgumentException` for a blank name.
  Communicator duplicate(String name);

  /// Combines `input` of all ranks, element by element, into `output` on all ranks: bitwise equal
  /// on all ranks, and the same for the same inputs, size and algorithm, whatever the timing; and
  /// with a hook, as far as that copies out the same on all. In place when both are the same
  /// memory. Sends 2(n-1)/n of the bytes per rank when large [PY09 §3].
  Handle<TensorView> allreduce(AllreduceRequest request);

  /// The same, without a hook.
  default Handle<TensorView> allreduce(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    return allreduce(new AllreduceRequest(input, output, op, options));
  }

  /// Submits all of these at once, and returns one handle for them: it completes when all have,
  /// with the outputs in the order of the requests; or, also after all have ended, fails with the
  /// cause of the first one in that order that failed, which names its tensor. Throws
  /// `IllegalArgumentException` or `IllegalStateException` as for one, and has submitted none then.
  /// What there is no room for is not submitted; the handle fails with `TimedOut` when the others
  /// have ended.
  Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests);

  /// Combines `input` of all ranks and gives each rank its rows: of first extent N, rank r gets N/n
  /// rows, and one more if r < N mod n. `output` must have that shape.
  Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options);

  /// Concatenates `input` of all ranks, in rank order, along the first dimension, whose extent may
  /// differ from rank to rank. Gives ownership of the result.
  Handle<TensorLease> allgather(TensorView input, CollectiveOptions options);

  /// Copies `inOut` of rank `root` of the set to all; read-only on none, the root neither. The
  /// root's completes when those have submitted it who get it from the root.
  Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options);

  /// Sends `splits.get(r)` rows of `input` to rank r, and concatenates in rank order what all ranks
  /// sent here. The splits must sum to the first extent. Gives ownership of the result.
  Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options);

  /// Completes after all ranks have entered.
  Handle<Void> barrier(CollectiveOptions options);

  /// Runs the progress engine on the calling thread, as a wait for a handle does, until `until`
  /// holds or `limit` is over. For a thread that waits for several operations at once. False, soon,
  /// where another thread runs the engine: then the caller should park until a handle tells it.
  /// Throws `IllegalStateException` in a callback.
  ///
  /// @param until asked between turns, on this thread; it must be short
  default boolean progress(BooleanSupplier until, Duration limit) {
    return false;
  }

  /// The sizes by which operations are cut that are submitted from now on.
  Tuning tuning();

  /// Changes these sizes, on all ranks: all call this with the same tuning, behind the same
  /// submissions and before the same. What was submitted before keeps the sizes that it had, also
  /// while it is under way; what is submitted from now on has the new ones. The handle completes
  /// when all ranks have changed. Fails with `Mismatch` on all ranks if they give different ones or
  /// have not changed equally often, and the former tuning holds again. One change at a time; and
  /// not for several threads that submit at once, whose order all ranks must share.
  Handle<Void> tune(Tuning next);

  /// Fails all pending and future operations on all ranks with `Aborted(cause)`. Idempotent, never
  /// blocks.
  void abort(CommException cause);

  /// Waits for nothing: pending operations fail here with `Aborted`. A second call has no effect.
  @Override
  void close();

  /// What an `alltoall` brought.
  ///
  /// @param tensor owned by the receiver of this record
  /// @param splits rows from each rank, in rank order
  record Received(TensorLease tensor, List<Long> splits) {
    /// Copies the splits.
    public Received {
      Objects.requireNonNull(tensor, "tensor");
      splits = List.copyOf(splits);
    }
  }
}
