// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/// TensorFlow tensors in memory that TensorFlow does not own. TensorFlow reports when it no longer
/// uses the memory. One table per process, because the C callback is one per process. Any thread.
public final class BorrowedTensors {

  // TF_Tensor* TF_NewTensor(TF_DataType, const int64_t* dims, int num_dims, void* data, size_t len,
  //     void (*deallocator)(void* data, size_t len, void* arg), void* deallocator_arg);
  private static final MethodHandle NEW =
      FrameworkLibrary.function(
          "TF_NewTensor",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));

  private static final MemorySegment DEALLOCATOR =
      Upcalls.stub(
          MethodHandles.lookup(),
          "giveBack",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));

  private static final HandleTable<Runnable> OUT = new HandleTable<>("lent memory");

  private BorrowedTensors() {}

  /// Returns a `TF_Tensor*` that the caller deletes. Its memory is `data` itself if that is aligned
  /// to 64 bytes; otherwise TensorFlow copies it immediately.
  ///
  /// Hot path.
  ///
  /// @param data **given**: it must live until `giveBack` runs
  /// @param giveBack runs once, on any thread, when TensorFlow no longer uses `data`; must neither
  ///   block nor throw
  public static long lend(
      int dataType, MemorySegment dims, int rank, MemorySegment data, Runnable giveBack) {
    long number = OUT.add(giveBack);
    long tensor;
    try {
      tensor =
          (long)
              NEW.invokeExact(
                  dataType, dims, rank, data.address(), data.byteSize(), DEALLOCATOR, number);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_NewTensor", t);
    }
    if (tensor == 0) {
      throw new IllegalStateException(
          "TensorFlow cannot create a tensor of type "
              + dataType
              + " of "
              + data.byteSize()
              + " bytes");
    }
    return tensor;
  }

  /// Returns the number of lent memory blocks.
  public static int live() {
    return OUT.live();
  }

  static void giveBack(long data, long bytes, long number) {
    try {
      OUT.remove(number).run();
    } catch (Throwable t) {
      Upcalls.escaped("giving memory back", t);
    }
  }
}
