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

/// Collectives over one process set in one epoch. Thread-safe.
///
/// Every rank must submit the same names, in any order within the limit of operations in flight on
/// a rank: 16,384 on tensors of up to 12 KiB, or 3,072 on tensors of at least 64 KiB. A caller that
/// submits more waits for room; the submission fails with `TimedOut` if no operation ends. Tensors
/// are borrowed until the handle completes.
///
/// A rank that disagrees on shape, dtype or operation soon fails the operation on all ranks with
/// `Mismatch`, and the communicator remains usable. A lost peer or a passed deadline aborts the
/// communicator. A rank that loses its tensor fails the operation in the same way with `Broken`.
/// Only a broadcast may have completed on some ranks when it fails: on a rank that agrees with its
/// sender and with the ranks to which it forwarded the tensor.
///
/// Threads other than the caller access the tensors. A call therefore throws
/// `IllegalArgumentException` for a tensor in an arena that is closed or confined to a thread, and
/// also for a read-only output. Inputs may be read-only. If the arena of a tensor is closed during
/// an operation, `Arena.close` throws because the memory is being accessed, or the operation fails;
/// over TCP, in the middle of a long tensor, the connection fails too.
public interface Communicator extends AutoCloseable {

  /// Returns this process's rank in the set.
  int rank();

  /// Returns the number of ranks in the set.
  int size();

  /// Returns the set's world ranks: at position r the world rank of the set's rank r.
  default ProcessSet members() {
    return ProcessSet.world(size());
  }

  /// Returns whether all ranks can access each other's memory, because they are on one host and the
  /// transport permits it. Equal on all ranks.
  default boolean sharesMemory() {
    return false;
  }

  /// Returns whether the rule table expects that tensors of this length arrive sooner when fused.
  /// Equal on all ranks.
  default boolean fuses(long bytes) {
    return true;
  }

  /// Returns whether by the rule table a buffer of this length may have tensors of different
  /// priorities. Equal on all ranks.
  default boolean mixes(long bytes) {
    return true;
  }

  /// Creates another communicator of the same ranks, as MPI's `MPI_Comm_dup` does. Its operations
  /// match only those of duplicates created with the same name. All ranks must create it. They must
  /// create duplicates of one name in the same order, but may create duplicates of different names
  /// in any order and on any thread. The caller owns the result. The call waits for no rank. Throws
  /// `IllegalArgumentException` for a blank name.
  Communicator duplicate(String name);

  /// Combines `input` of all ranks, element by element, into `output` on all ranks. The result is
  /// bitwise equal on all ranks, and depends only on inputs, size and algorithm, not on timing.
  /// With a hook it is equal if the hook copies out equally on all ranks. In place if both are the
  /// same memory. Each rank sends 2(n-1)/n of the bytes of a large tensor [PY09 §3].
  Handle<TensorView> allreduce(AllreduceRequest request);

  /// Submits an allreduce without a hook.
  default Handle<TensorView> allreduce(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    return allreduce(new AllreduceRequest(input, output, op, options));
  }

  /// Submits all requests at once and returns one handle for them. It completes when all operations
  /// have ended: with the outputs in the order of the requests, or with the failure of the first
  /// failed request in this order, which names its tensor. Throws `IllegalArgumentException` or
  /// `IllegalStateException` as for one request, without submitting any. A request without room is
  /// not submitted, and the handle fails with `TimedOut` when the others have ended.
  Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests);

  /// Combines `input` of all ranks and gives each rank its rows. If the first extent is N, rank r
  /// of n receives N/n rows, rounded down, and one more if r < N mod n. `output` must have that
  /// shape.
  Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options);

  /// Concatenates `input` of all ranks, in rank order, along the first dimension. The first extent
  /// may differ between ranks. The caller owns the result.
  Handle<TensorLease> allgather(TensorView input, CollectiveOptions options);

  /// Copies `inOut` of rank `root` of the set to all ranks. The tensor must not be read-only, even
  /// on the root. On the root the operation completes when its direct receivers have submitted it.
  Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options);

  /// Sends `splits.get(r)` rows of `input` to rank r, and concatenates in rank order the rows
  /// received from all ranks. The splits must sum to the first extent. The caller owns the result.
  Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options);

  /// Completes after all ranks have entered.
  Handle<Void> barrier(CollectiveOptions options);

  /// Runs the progress engine on the calling thread, as waiting for a handle does, until `until`
  /// returns true or `limit` has passed. It serves a thread that waits for several operations at
  /// once. Returns false soon if another thread runs the engine. The caller should then park until
  /// a handle notifies it. Throws `IllegalStateException` in a callback.
  ///
  /// @param until called between duty cycles on this thread; must be short
  default boolean progress(BooleanSupplier until, Duration limit) {
    return false;
  }

  /// Returns the sizes for operations that are submitted from now on.
  Tuning tuning();

  /// Changes these sizes on all ranks. Every rank must call this with the same tuning, at the same
  /// position among its submissions. Operations submitted earlier keep their sizes; later ones have
  /// the new sizes. The handle completes when all ranks have changed. If the ranks' tunings or
  /// numbers of changes differ, it fails with `Mismatch` on all ranks, and the former tuning
  /// applies again. Only one change may be in progress at a time. Threads must not submit
  /// concurrently, because all ranks must share the order of submissions.
  Handle<Void> tune(Tuning next);

  /// Fails all pending and future operations on all ranks with `Aborted(cause)`. Idempotent; never
  /// blocks.
  void abort(CommException cause);

  /// Closes this communicator without waiting: pending operations fail on this rank with `Aborted`.
  /// A second call has no effect.
  @Override
  void close();

  /// The result of an `alltoall`.
  ///
  /// @param tensor owned by the receiver of this record
  /// @param splits number of rows from each rank, in rank order
  record Received(TensorLease tensor, List<Long> splits) {
    /// Copies the splits.
    public Received {
      Objects.requireNonNull(tensor, "tensor");
      splits = List.copyOf(splits);
    }
  }
}
