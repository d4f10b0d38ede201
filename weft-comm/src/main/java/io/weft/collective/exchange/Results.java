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

/// Where collectives put what they allocate themselves: where the transport gives peers' memory,
/// into memory that peers can work on where it lies, so that the next collective on it can; else
/// into private memory. Any thread.
///
/// @param pool null: private memory
public record Results(@Nullable TensorPool pool) {

  /// A tensor like `like` of the rows of all ranks, with any contents. Throws `OutOfMemoryError`
  /// with these.
  public TensorLease gathered(TensorView like, long[] rows) {
    Shape shape = like.shape().withFirst(Arrays.stream(rows).sum());
    try {
      return allocate(like, shape);
    } catch (OutOfMemoryError | IllegalArgumentException noRoom) {
      throw noRoom(like, shape + " of " + Arrays.toString(rows) + " rows by rank", noRoom);
    }
  }

  /// A tensor of the type of `like`, with any contents. Throws `OutOfMemoryError`.
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
