// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.Handle;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;

/// The data-parallel collectives of one communicator. All ranks submit the same names, in any
/// order. Thread-safe; owned by its `DataParallel`. Tensors are borrowed until the handle
/// completes. Actions of handles run on the layer's thread, or on that of a caller that drives:
/// they must not block. A submission waits for room while the layer's thread has 16,384 others to
/// take.
///
/// The bits of a result depend on inputs and number of ranks alone, not on fusion, timing or
/// transport. A tensor that one rank asks in another way, or never, fails on all ranks that asked
/// it, with `Mismatch` or `Broken`, and the rest works on, wherever the ranks lie. Only where the
/// options say `Fusion.OFF`, ranks do not negotiate: then a tensor that is never asked ends the
/// reducer on all ranks with `Aborted`, and nobody can join. A deadline counts from the submission.
public sealed interface Reducer extends TensorReducer permits CommunicatorReducer {

  /// A reducer without negotiation and fusion, of a communicator that is borrowed: each tensor goes
  /// at once, by itself. It need not be closed.
  static Reducer direct(Communicator communicator) {
    return new DirectReducer(communicator, Duration.ZERO, "it was asked for");
  }

  /// One handle for all of these: done when all are, with their outputs in this order; fails with
  /// the cause of the first of them that failed.
  static Handle<List<TensorView>> all(List<? extends Handle<TensorView>> handles) {
    return ReductionHandle.of(
        "group of " + handles.size() + " tensors",
        LayerSpans.NONE,
        handles,
        CollectiveStart::discard);
  }

  /// This process's rank in the communicator.
  int rank();

  /// Ranks in the communicator.
  int size();

  /// These ranks in the job, in order.
  List<Integer> members();

  /// Combines the input of all ranks, element by element, into the output on all. Throws
  /// `IllegalStateException` if a tensor of this name is in flight here, or after `join`.
  @Override
  Handle<TensorView> allreduce(ReductionRequest request);

  /// The same for a group, which all ranks submit as one: none of its tensors travels before all
  /// are ready on all ranks, and if one fails, all do. Completes with the outputs in the order of
  /// the requests.
  @Override
  Handle<List<TensorView>> reduceAll(List<ReductionRequest> group);

  /// Submits what `submission` submits to this reducer, then works for it on the calling thread, in
  /// place of the layer's thread and the progress thread, until its handle is done or `limit` is
  /// over; returns the handle. For a thread that has nothing else to do: nothing is handed to
  /// another thread, which on a machine with as many computing threads as processors costs a slice
  /// of time each way. Returns at once after the submission in a callback, and where another thread
  /// works already. Throws what `submission` throws.
  <T> Handle<T> drive(Supplier<? extends Handle<T>> submission, Duration limit);

  /// An allgather, reduceScatter, broadcast or alltoall. As `allreduce`, but each travels by
  /// itself.
  <T> Handle<T> submit(CollectiveRequest<T> request);

  /// The same for a group, which all ranks submit as one, as with `reduceAll`. Completes with the
  /// results in the order of the requests; where it fails, results that have arrived are closed.
  <T> Handle<List<T>> submitAll(List<? extends CollectiveRequest<T>> group);

  /// This rank has no more data: from now on it contributes what changes nothing (zeros to sums,
  /// and to averages, which are divided by all ranks; no rows to allgathers and alltoalls) to what
  /// the others submit; a broadcast from a rank that has joined fails with `Broken`. Completes when
  /// all ranks have called it, with the rank that did last; then all may go on. Throws
  /// `IllegalStateException` where the options say `Fusion.OFF`.
  Handle<Integer> join();

  /// Returns when all ranks have called it. Throws `CommException.Broken` after `limit`, which
  /// names the ranks that did not; without negotiation `Aborted`, and the communicator is lost.
  void barrier(Duration limit) throws InterruptedException;

  /// The object of rank `root`, on all ranks. Waits for all. Throws `IllegalArgumentException` on
  /// all ranks if it has more than 1 GiB.
  ///
  /// @param value the root's object; those of other ranks are not used
  <T> T broadcastObject(String name, T value, ObjectCodec<T> codec, int root)
      throws InterruptedException;

  /// The objects of all ranks that have not joined, in rank order, on all. Waits for all. Throws
  /// `IllegalArgumentException` on all ranks if they have more than 1 GiB together.
  <T> List<T> allgatherObject(String name, T value, ObjectCodec<T> codec)
      throws InterruptedException;

  /// Longest fusion buffer that this rank takes, in bytes; 0 where tensors are not fused.
  long fusionThreshold();

  /// Returns when a tensor to be combined was submitted last, by the clock of `System.nanoTime`;
  /// empty before the first one, and where nothing is negotiated: there an operation of the
  /// communicator is submitted in the same moment. Any thread.
  default OptionalLong lastReductionNanos() {
    return OptionalLong.empty();
  }

  /// From its next round on this rank takes buffers of at most the largest power of two up to
  /// `bytes`, and not more than the options say; all ranks use the least that one of them takes.
  /// Throws `IllegalArgumentException` unless `bytes` is positive. Of no effect where tensors are
  /// not fused.
  void fusionThreshold(long bytes);

  /// Returns the sizes by which the reducer's operations are cut; see `Communicator.tuning`.
  Tuning tuning();

  /// Changes the sizes of the reducer's operations as `Communicator.tune` does, where ranks
  /// negotiate between two of their rounds; while it is in flight nothing else is submitted to the
  /// communicator.
  Handle<?> tune(Tuning next);

  /// Whether ranks negotiate and tensors are fused, and why, in words.
  String describe();
}
