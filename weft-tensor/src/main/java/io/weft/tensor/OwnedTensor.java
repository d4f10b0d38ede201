// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

import java.lang.foreign.Arena;

/// A tensor that owns its native memory, which is initially zero. Any thread may read, write and
/// close it; the caller orders the accesses.
public final class OwnedTensor implements TensorLease {

  /// The alignment of the data in bytes: a cache line and the widest vector.
  public static final long ALIGNMENT = 64;

  private final Arena arena;
  private final TensorView view;

  private OwnedTensor(Arena arena, TensorView view) {
    this.arena = arena;
    this.view = view;
  }

  /// Allocates a tensor of zeros. Throws `IllegalArgumentException` if its size in bytes exceeds
  /// 2^63-1, and `OutOfMemoryError`, which names the type, shape and limit, if the system refuses
  /// the memory. The allocation costs one pass over the memory, and closing costs a handshake with
  /// all threads, so callers should reuse tensors.
  public static OwnedTensor allocate(DType dtype, Shape shape) {
    long bytes = TensorView.bytes(dtype, shape);
    Arena arena = Arena.ofShared();
    try {
      return new OwnedTensor(arena, new TensorView(dtype, shape, arena.allocate(bytes, ALIGNMENT)));
    } catch (OutOfMemoryError refused) {
      arena.close();
      throw noRoom(dtype, shape, bytes, refused);
    } catch (Throwable failure) {
      arena.close();
      throw failure;
    }
  }

  private static OutOfMemoryError noRoom(
      DType dtype, Shape shape, long bytes, OutOfMemoryError refused) {
    var words =
        new OutOfMemoryError(
            dtype
                + ""
                + shape
                + " has "
                + bytes
                + " bytes, which this process cannot allocate: "
                + refused.getMessage()
                + "; the limit is -XX:MaxDirectMemorySize (by default the heap's -Xmx)");
    words.initCause(refused);
    return words;
  }

  /// Returns a new tensor with the elements of `source`, which is borrowed for the call.
  public static OwnedTensor copyOf(TensorView source) {
    OwnedTensor copy = allocate(source.dtype(), source.shape());
    copy.view.data().copyFrom(source.data());
    return copy;
  }

  @Override
  public TensorView view() {
    return view;
  }

  /// Frees the memory. A later access to the view throws `IllegalStateException`. A second call has
  /// no effect. Throws `IllegalStateException` if a native call still uses the memory; the tensor
  /// then stays open.
  @Override
  public synchronized void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  @Override
  public String toString() {
    return view.signature();
  }
}
