// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/// The shape functions of Weft's ops, `void (*)(TF_ShapeInferenceContext*, TF_Status*)`. TensorFlow
/// throws an error in the status when the graph is built.
final class ShapeInference {

  /// A dimension of any extent.
  private static final long ANY = -1;

  // TF_ShapeHandle* TF_NewShapeHandle();
  private static final MethodHandle NEW =
      FrameworkLibrary.function("TF_NewShapeHandle", FunctionDescriptor.of(JAVA_LONG));
  // void TF_DeleteShapeHandle(TF_ShapeHandle* handle);
  private static final MethodHandle DELETE =
      FrameworkLibrary.function("TF_DeleteShapeHandle", FunctionDescriptor.ofVoid(JAVA_LONG));
  // int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* ctx);
  private static final MethodHandle INPUTS =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextNumInputs", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  // void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext*, int i, TF_ShapeHandle*,
  //     TF_Status*);
  private static final MethodHandle INPUT =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextGetInput",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  // void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext*, int i, TF_ShapeHandle*,
  //     TF_Status*);
  private static final MethodHandle SET_OUTPUT =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextSetOutput",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  // void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext*, TF_ShapeHandle*,
  //     int64_t rank, TF_ShapeHandle* result, TF_Status*);
  private static final MethodHandle RANK_AT_LEAST =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextWithRankAtLeast",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  // void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext*, TF_ShapeHandle*,
  //     int64_t start, int64_t end, TF_ShapeHandle* result, TF_Status*);
  private static final MethodHandle SUBSHAPE =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextSubshape",
          FunctionDescriptor.ofVoid(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  // void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext*, TF_ShapeHandle*,
  //     TF_ShapeHandle*, TF_ShapeHandle* result, TF_Status*);
  private static final MethodHandle CONCATENATE =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextConcatenateShapes",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  // TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(TF_ShapeInferenceContext*, size_t size);
  private static final MethodHandle VECTOR =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextVectorFromSize",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  // TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext* ctx);
  private static final MethodHandle SCALAR =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextScalar", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
  // TF_Code TF_GetCode(const TF_Status* s);
  private static final MethodHandle CODE =
      FrameworkLibrary.function(
          "TF_GetCode", FunctionDescriptor.of(JAVA_INT, JAVA_LONG), Linker.Option.critical(false));
  // void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext*, TF_Status*);
  private static final MethodHandle SET_UNKNOWN =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextSetUnknownShape",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  private ShapeInference() {}

  /// Returns the function as a C pointer, which is valid for the life of the process.
  static MemorySegment function(ShapeFunction shapes) {
    String method =
        switch (shapes) {
          case AS_INPUTS -> "asInputs";
          case OTHER_ROWS -> "otherRows";
          case SCALAR -> "scalar";
          case UNKNOWN -> "unknown";
        };
    return Upcalls.stub(
        MethodHandles.lookup(), method, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  }

  static void asInputs(long context, long status) {
    try {
      long inputs = (long) INPUTS.invokeExact(context);
      for (int i = 0; i < inputs && ok(status); i++) {
        long shape = (long) NEW.invokeExact();
        INPUT.invokeExact(context, i, shape, status);
        SET_OUTPUT.invokeExact(context, i, shape, status);
        DELETE.invokeExact(shape);
      }
    } catch (Throwable t) {
      Upcalls.escaped("shape inference", t);
    }
  }

  static void otherRows(long context, long status) {
    try {
      long inputs = (long) INPUTS.invokeExact(context);
      for (int i = 0; i < inputs && ok(status); i++) {
        otherRows(context, i, status);
      }
    } catch (Throwable t) {
      Upcalls.escaped("shape inference", t);
    }
  }

  private static void otherRows(long context, int index, long status) throws Throwable {
    long shape = (long) NEW.invokeExact();
    long rows = (long) VECTOR.invokeExact(context, ANY);
    INPUT.invokeExact(context, index, shape, status);
    if (ok(status)) {
      RANK_AT_LEAST.invokeExact(context, shape, 1L, shape, status);
    }
    if (ok(status)) {
      SUBSHAPE.invokeExact(context, shape, 1L, Long.MAX_VALUE, shape, status);
    }
    if (ok(status)) {
      CONCATENATE.invokeExact(context, rows, shape, shape, status);
    }
    if (ok(status)) {
      SET_OUTPUT.invokeExact(context, index, shape, status);
    }
    DELETE.invokeExact(rows);
    DELETE.invokeExact(shape);
  }

  static void scalar(long context, long status) {
    try {
      long shape = (long) SCALAR.invokeExact(context);
      SET_OUTPUT.invokeExact(context, 0, shape, status);
      DELETE.invokeExact(shape);
    } catch (Throwable t) {
      Upcalls.escaped("shape inference", t);
    }
  }

  static void unknown(long context, long status) {
    try {
      SET_UNKNOWN.invokeExact(context, status);
    } catch (Throwable t) {
      Upcalls.escaped("shape inference", t);
    }
  }

  private static boolean ok(long status) throws Throwable {
    return (int) CODE.invokeExact(status) == 0;
  }
}
