// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/// The shape functions of the ops here: the output has the shape of input 0, or one that is not
/// known.
final class ShapeInference {

  // TF_ShapeHandle* TF_NewShapeHandle();
  private static final MethodHandle NEW =
      FrameworkLibrary.function("TF_NewShapeHandle", FunctionDescriptor.of(JAVA_LONG));
  // void TF_DeleteShapeHandle(TF_ShapeHandle* handle);
  private static final MethodHandle DELETE =
      FrameworkLibrary.function("TF_DeleteShapeHandle", FunctionDescriptor.ofVoid(JAVA_LONG));
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

  // void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext*, TF_Status*);
  private static final MethodHandle SET_UNKNOWN =
      FrameworkLibrary.function(
          "TF_ShapeInferenceContextSetUnknownShape",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  private static final FunctionDescriptor FUNCTION =
      FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG);

  /// `void (*)(TF_ShapeInferenceContext*, TF_Status*)`, valid for ever.
  static final MemorySegment SAME_AS_INPUT =
      Upcalls.stub(MethodHandles.lookup(), "sameAsInput", FUNCTION);

  /// The same, for ops with outputs of any shape, or none.
  static final MemorySegment UNKNOWN = Upcalls.stub(MethodHandles.lookup(), "unknown", FUNCTION);

  private ShapeInference() {}

  static void sameAsInput(long context, long status) {
    try {
      long shape = (long) NEW.invokeExact();
      INPUT.invokeExact(context, 0, shape, status);
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
}
