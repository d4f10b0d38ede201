// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.adasum;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The exchange of one gradient. In round k a rank and the rank whose number differs in bit k send
/// each other their tensors, and both compute the same combination.
final class AdasumExchange {

  private final Communicator communicator;
  private final Worker worker;
  private final String name;
  private final TensorView tensor;
  private final TensorView row;
  private final CompletableHandle<TensorView> handle;

  /// @param tensor this rank's gradient, which the result overwrites
  AdasumExchange(Communicator communicator, Worker worker, String name, TensorView tensor) {
    this.communicator = communicator;
    this.worker = worker;
    this.name = name;
    this.tensor = tensor;
    this.row = tensor.reshaped(Shape.of(tensor.shape().elements()));
    this.handle =
        CompletableHandle.of(
            "Adasum of '%s' on rank %d".formatted(name, world(communicator.rank())));
  }

  Handle<TensorView> start() {
    exchange(1);
    return handle;
  }

  /// @param distance difference between the numbers of the two ranks
  private void exchange(int distance) {
    if (distance >= communicator.size()) {
      handle.complete(tensor);
      return;
    }
    int partner = communicator.rank() ^ distance;
    List<Long> splits = new ArrayList<>(Collections.nCopies(communicator.size(), 0L));
    splits.set(partner, row.shape().elements());
    worker.after(
        communicator.alltoall(row, splits, CollectiveOptions.named(name + "/adasum/" + distance)),
        (received, failure) -> combine(received, failure, distance));
  }

  private void combine(
      Communicator.@Nullable Received received, @Nullable CommException failure, int distance) {
    if (failure != null) {
      handle.fail(failure);
      return;
    }
    try {
      try (TensorLease lease = Objects.requireNonNull(received).tensor()) {
        requireSame(lease.view(), communicator.rank() ^ distance);
        MemorySegment own = row.data();
        MemorySegment other = lease.view().data();
        boolean lower = (communicator.rank() & distance) == 0;
        AdasumPair.combine(lower ? own : other, lower ? other : own, own, row.shape().elements());
      }
      exchange(2 * distance);
    } catch (RuntimeException | Error thrown) {
      handle.fail(thrown, world(communicator.rank()));
    }
  }

  /// Returns the rank's number in the job.
  private int world(int rank) {
    return communicator.members().ranks().get(rank);
  }

  private void requireSame(TensorView other, int rank) {
    if (!other.shape().equals(row.shape())) {
      throw new CommException.Mismatch(
          "gradient '%s': rank %d has %d elements, rank %d %d; give all ranks the same shape"
              .formatted(
                  name,
                  world(rank),
                  other.shape().elements(),
                  world(communicator.rank()),
                  row.shape().elements()));
    }
  }
}
