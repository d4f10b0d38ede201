// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import io.weft.memory.TensorPool;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.TransportException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The allocator of the tensors that collectives return. If the transport gives access to peers'
/// memory, tensors are allocated in memory that peers can access in place, so that the next
/// collective on them can be mapped. Otherwise memory is private. Any thread.
///
/// @param pool null for private memory
public record Results(@Nullable TensorPool pool) {

  /// Allocates a tensor like `like` with the rows of all ranks and undefined contents. Throws
  /// `OutOfMemoryError` that lists the rows.
  public TensorLease gathered(TensorView like, long[] rows) {
    Shape shape = like.shape().withFirst(Arrays.stream(rows).sum());
    try {
      return allocate(like, shape);
    } catch (OutOfMemoryError | IllegalArgumentException noRoom) {
      throw noRoom(like, shape + " of " + Arrays.toString(rows) + " rows by rank", noRoom);
    }
  }

  /// Allocates a tensor of the type of `like` with undefined contents. Throws `OutOfMemoryError`.
  public TensorLease allocate(TensorView like, Shape shape) {
    if (pool == null) {
      return OwnedTensor.allocate(like.dtype(), shape);
    }
    try {
      return pool.allocate(like.dtype(), shape);
    } catch (TransportException.Registration refused) {
      throw noRoom(like, shape + "", refused);
    }
  }

  private static OutOfMemoryError noRoom(TensorView like, String what, Throwable cause) {
    var words = new OutOfMemoryError(like.dtype() + what + ": " + cause.getMessage());
    words.initCause(cause);
    return words;
  }
}
