// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The functions of a `TF_Tensor`.
// "restricted": makes segments of addresses.
@SuppressWarnings("restricted")
public final class NativeTensor {

  private static final Linker.Option SHORT = Linker.Option.critical(false);

  // void* TF_TensorData(const TF_Tensor*);
  private static final MethodHandle DATA =
      FrameworkLibrary.function(
          "TF_TensorData", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG), SHORT);
  // size_t TF_TensorByteSize(const TF_Tensor*);
  private static final MethodHandle BYTES =
      FrameworkLibrary.function(
          "TF_TensorByteSize", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG), SHORT);
  // int TF_NumDims(const TF_Tensor*);
  private static final MethodHandle RANK =
      FrameworkLibrary.function("TF_NumDims", FunctionDescriptor.of(JAVA_INT, JAVA_LONG), SHORT);
  // int64_t TF_Dim(const TF_Tensor* tensor, int dim_index);
  private static final MethodHandle DIM =
      FrameworkLibrary.function(
          "TF_Dim", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT), SHORT);
  // void TF_DeleteTensor(TF_Tensor*); may call a deallocator that is Java, so not a short call
  private static final MethodHandle DELETE =
      FrameworkLibrary.function("TF_DeleteTensor", FunctionDescriptor.ofVoid(JAVA_LONG));

  private NativeTensor() {}

  /// Returns the tensor's own memory, valid while TensorFlow holds a reference to it.
  ///
  /// Hot path.
  public static MemorySegment data(long tensor) {
    try {
      long bytes = (long) BYTES.invokeExact(tensor);
      return segment((long) DATA.invokeExact(tensor), bytes);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_TensorData", t);
    }
  }

  /// Returns the number of dimensions.
  public static int rank(long tensor) {
    try {
      return (int) RANK.invokeExact(tensor);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_NumDims", t);
    }
  }

  /// Returns the extent of this dimension.
  public static long dim(long tensor, int index) {
    try {
      return (long) DIM.invokeExact(tensor, index);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_Dim", t);
    }
  }

  /// Releases the reference.
  public static void delete(long tensor) {
    try {
      DELETE.invokeExact(tensor);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_DeleteTensor", t);
    }
  }

  /// Returns a segment of memory that its owner keeps alive while the segment is used.
  public static MemorySegment segment(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }
}
