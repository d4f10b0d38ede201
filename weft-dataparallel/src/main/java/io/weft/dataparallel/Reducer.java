// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.Handle;
import io.weft.comm.Handles;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Supplier;

/// The data-parallel collectives of one communicator. All ranks must submit the same names, in any
/// order. Thread-safe; owned by its `DataParallel`. Tensors are borrowed until the handle
/// completes. Callbacks of handles run on the layer's thread, or on the thread of a driving caller,
/// and must not block. A submission waits while the layer's thread has not yet taken 16,384 earlier
/// ones.
///
/// The bits of a result depend only on the inputs and the number of ranks, not on fusion, timing or
/// transport. If one rank submits a tensor with another signature, or not at all, the tensor fails
/// on all ranks that submitted it, with `Mismatch` or `Broken`. Other tensors are not affected.
/// With `Fusion.OFF` ranks do not negotiate: a tensor that a rank never submits ends the reducer on
/// all ranks with `Aborted`, and ranks cannot join. A deadline counts from the submission.
public sealed interface Reducer extends TensorReducer permits CommunicatorReducer {

  /// Returns a reducer without negotiation and fusion, over a borrowed communicator. Each tensor is
  /// sent at once, by itself. The reducer need not be closed.
  static Reducer direct(Communicator communicator) {
    return new DirectReducer(communicator, Duration.ZERO, "it was asked for");
  }

  /// Returns one handle for all of these handles. It completes when all have completed, with their
  /// outputs in the order of `handles`, or with the failure of the first failed one in this order.
  static Handle<List<TensorView>> all(List<? extends Handle<TensorView>> handles) {
    return Handles.all(handles, null, CollectiveStart::discard);
  }

  /// Returns this process's rank in the communicator.
  int rank();

  /// Returns the number of ranks in the communicator.
  int size();

  /// Returns the communicator's ranks by their numbers in the job, in order.
  List<Integer> members();

  /// Combines the input of all ranks, element by element, into the output on all ranks. Throws
  /// `IllegalStateException` if a tensor of this name is in flight on this rank, or after `join`.
  @Override
  Handle<TensorView> allreduce(ReductionRequest request);

  /// Reduces a group, which all ranks must submit as one. No tensor of the group is sent before all
  /// are ready on all ranks, and if one fails, all fail; with `Fusion.OFF` the tensors are
  /// independent. Completes with the outputs in the order of the requests. If it throws, no tensor
  /// of the group has been submitted.
  @Override
  Handle<List<TensorView>> reduceAll(List<ReductionRequest> group);

  /// Runs `submission`, then makes progress on the calling thread, in place of the layer's thread
  /// and the progress thread, until its handle is done or `limit` has passed. Returns the handle.
  /// It serves a thread that would only wait. It avoids passing work to another thread, which costs
  /// a time slice each way if all processors are busy. Returns directly after the submission in a
  /// callback, or if another thread runs the layer. Throws the exceptions of `submission`.
  <T> Handle<T> drive(Supplier<? extends Handle<T>> submission, Duration limit);

  /// Submits an allgather, reduceScatter, broadcast or alltoall. The rules of `allreduce` apply,
  /// but each is sent by itself.
  <T> Handle<T> submit(CollectiveRequest<T> request);

  /// Submits a group, which all ranks must submit as one, as in `reduceAll`. Completes with the
  /// results in the order of the requests. If the group fails, results that have arrived are
  /// closed. If it throws, no tensor of the group has been submitted.
  <T> Handle<List<T>> submitAll(List<? extends CollectiveRequest<T>> group);

  /// Declares that this rank has no more data. From now on the rank contributes neutral values to
  /// the other ranks' submissions: zeros to sums and averages (averages are divided by the number
  /// of all ranks), and no rows to allgathers and alltoalls. A broadcast from a joined rank fails
  /// with `Broken`. The handle completes, with the rank that called last, when all ranks have
  /// called this. Then all ranks may submit again. Throws `IllegalStateException` with
  /// `Fusion.OFF`.
  Handle<Integer> join();

  /// Returns when all ranks have called it. After `limit` it throws `CommException.Broken`, which
  /// names the missing ranks; without negotiation it throws `Aborted`, and the reducer's
  /// communicator is aborted.
  void barrier(Duration limit) throws InterruptedException;

  /// Returns the object of rank `root`, on all ranks. Waits for all ranks. Throws
  /// `IllegalArgumentException` on all ranks if the object has more than 1 GiB.
  ///
  /// @param value the root's object; not used on other ranks
  <T> T broadcastObject(String name, T value, ObjectCodec<T> codec, int root)
      throws InterruptedException;

  /// Returns the objects of all ranks that have not joined, in rank order, on all ranks. Waits for
  /// all ranks. Throws `IllegalArgumentException` on all ranks if the objects together have more
  /// than 1 GiB.
  <T> List<T> allgatherObject(String name, T value, ObjectCodec<T> codec)
      throws InterruptedException;

  /// Returns the length of the longest fusion buffer that this rank accepts, in bytes; 0 if tensors
  /// are not fused.
  long fusionThreshold();

  /// Returns the time at which a reduction was last submitted, by the clock of `System.nanoTime`.
  /// Empty before the first submission, and always without negotiation, because each reduction is
  /// then an operation of the communicator at once. Any thread.
  default OptionalLong lastReductionNanos() {
    return OptionalLong.empty();
  }

  /// Limits fusion buffers, from this rank's next round on, to the largest power of two that is at
  /// most `bytes`, or to the threshold of the options if `bytes` reaches it. All ranks use the
  /// lowest limit of any rank. Throws `IllegalArgumentException` unless `bytes` is positive. Has no
  /// effect if tensors are not fused.
  void fusionThreshold(long bytes);

  /// Returns the tuning of the reducer's operations; see `Communicator.tuning`.
  Tuning tuning();

  /// Changes the tuning of the reducer's operations as `Communicator.tune` does. Ranks that
  /// negotiate change it between two rounds. No other operation is submitted to the communicator
  /// while the change is in flight.
  Handle<?> tune(Tuning next);

  /// Describes whether ranks negotiate and fuse tensors, and why.
  String describe();
}
