// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The functions of a `TF_OpKernelContext`: one run of a kernel.
public final class KernelContext {

  // void TF_GetInput(TF_OpKernelContext* ctx, int i, TF_Tensor** tensor, TF_Status* status);
  private static final MethodHandle INPUT =
      FrameworkLibrary.function(
          "TF_GetInput", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  // TF_Tensor* TF_ForwardInputOrAllocateOutput(TF_OpKernelContext* context,
  //     const int* candidate_input_indices, int num_candidate_input_indices, int output_index,
  //     const int64_t* output_dims, int output_num_dims, int* forwarded_input, TF_Status* status);
  private static final MethodHandle FORWARD_OR_ALLOCATE =
      FrameworkLibrary.function(
          "TF_ForwardInputOrAllocateOutput",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS,
              JAVA_LONG));
  // TF_Tensor* TF_AllocateOutput(TF_OpKernelContext* context, int index, TF_DataType dtype,
  //     const int64_t* dims, int num_dims, size_t len, TF_Status* status);
  private static final MethodHandle ALLOCATE =
      FrameworkLibrary.function(
          "TF_AllocateOutput",
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, JAVA_LONG));
  // void TF_SetOutput(TF_OpKernelContext* ctx, int i, const TF_Tensor* tensor, TF_Status* status);
  private static final MethodHandle SET_OUTPUT =
      FrameworkLibrary.function(
          "TF_SetOutput", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  // void TF_OpKernelContext_Failure(TF_OpKernelContext* ctx, TF_Status* status);
  private static final MethodHandle FAILURE =
      FrameworkLibrary.function(
          "TF_OpKernelContext_Failure", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  // int64_t TF_GetStepId(TF_OpKernelContext* ctx);
  private static final MethodHandle STEP =
      FrameworkLibrary.function("TF_GetStepId", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));

  private KernelContext() {}

  /// Returns the number of the session run to which this kernel run belongs. It is unique in this
  /// process and starts at 1; it is 0 for an op outside a session.
  ///
  /// Hot path.
  public static long step(long context) {
    try {
      return (long) STEP.invokeExact(context);
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_GetStepId", t);
    }
  }

  /// Returns an input as a `TF_Tensor*` that the caller deletes. The context itself keeps the
  /// input's memory until the kernel is done, even after the caller has deleted the tensor.
  /// `pointer` has room for 8 bytes.
  ///
  /// Hot path.
  ///
  /// @param index of the input, from 0
  public static long input(long context, int index, MemorySegment pointer, Status status) {
    try {
      INPUT.invokeExact(context, index, pointer, status.address());
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_GetInput", t);
    }
    status.check("reading the input");
    return pointer.get(JAVA_LONG, 0);
  }

  /// Returns the output of this index as a `TF_Tensor*` that the caller deletes. Its memory is that
  /// of the input of the same index if no other reference exists, otherwise new, undefined memory.
  /// A `TF_Tensor` of the input counts as a reference, so the caller must delete it first.
  ///
  /// Hot path.
  ///
  /// @param indexAndResult two ints: `index`, and the result
  public static long forwardInputOrAllocate(
      long context,
      int index,
      MemorySegment dims,
      int rank,
      MemorySegment indexAndResult,
      Status status) {
    long tensor;
    try {
      tensor =
          (long)
              FORWARD_OR_ALLOCATE.invokeExact(
                  context,
                  indexAndResult,
                  1,
                  index,
                  dims,
                  rank,
                  indexAndResult.asSlice(4, 4),
                  status.address());
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_ForwardInputOrAllocateOutput", t);
    }
    status.check("allocating the output");
    return tensor;
  }

  /// Returns an output as a `TF_Tensor*` in new, undefined memory, which the caller deletes.
  ///
  /// Hot path.
  ///
  /// @param index of the output, from 0
  /// @param bytes the size of the shape and type
  public static long allocate(
      long context,
      int index,
      int dataType,
      MemorySegment dims,
      int rank,
      long bytes,
      Status status) {
    long tensor;
    try {
      tensor =
          (long)
              ALLOCATE.invokeExact(context, index, dataType, dims, rank, bytes, status.address());
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_AllocateOutput", t);
    }
    status.check("allocating the output");
    return tensor;
  }

  /// Makes `tensor` the output of this index; the caller still deletes it.
  ///
  /// Hot path.
  public static void output(long context, int index, long tensor, Status status) {
    try {
      SET_OUTPUT.invokeExact(context, index, tensor, status.address());
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_SetOutput", t);
    }
    status.check("setting the output");
  }

  /// Fails the run with the error in `status`; the caller must still call `done`.
  public static void fail(long context, Status status) {
    try {
      FAILURE.invokeExact(context, status.address());
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_OpKernelContext_Failure", t);
    }
  }
}
