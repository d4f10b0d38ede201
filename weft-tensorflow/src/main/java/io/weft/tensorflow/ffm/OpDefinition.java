// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// A stateful op of inputs `x` and outputs `y`, all of type `T`. Stateful, so that TensorFlow
/// neither folds, merges nor drops it.
///
/// @param name type of the op, such as `WeftAllreduce`
/// @param ends its inputs and outputs
/// @param attributes in TensorFlow's notation: `root: int`
public record OpDefinition(String name, Ends ends, List<String> attributes) {

  /// What an op takes and gives.
  public enum Ends {
    /// An input, and an output of its shape.
    INPUT_AND_OUTPUT,
    /// `N` inputs, an attribute.
    INPUTS,
    /// An output, of whatever shape.
    OUTPUT,
    /// `N` outputs, of whatever shapes.
    OUTPUTS
  }

  // TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op_name);
  private static final MethodHandle NEW =
      FrameworkLibrary.function(
          "TF_NewOpDefinitionBuilder", FunctionDescriptor.of(JAVA_LONG, ADDRESS));
  // void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder*, const char* attr_spec);
  private static final MethodHandle ADD_ATTRIBUTE =
      FrameworkLibrary.function(
          "TF_OpDefinitionBuilderAddAttr", FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS));
  // void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder*, const char* input_spec);
  private static final MethodHandle ADD_INPUT =
      FrameworkLibrary.function(
          "TF_OpDefinitionBuilderAddInput", FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS));
  // void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder*, const char* output_spec);
  private static final MethodHandle ADD_OUTPUT =
      FrameworkLibrary.function(
          "TF_OpDefinitionBuilderAddOutput", FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS));
  // void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder*, bool is_stateful);
  private static final MethodHandle SET_STATEFUL =
      FrameworkLibrary.function(
          "TF_OpDefinitionBuilderSetIsStateful",
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_BOOLEAN));
  // void TF_OpDefinitionBuilderSetShapeInferenceFunction(TF_OpDefinitionBuilder*,
  //     void (*)(TF_ShapeInferenceContext* ctx, TF_Status* status));
  private static final MethodHandle SET_SHAPE_FUNCTION =
      FrameworkLibrary.function(
          "TF_OpDefinitionBuilderSetShapeInferenceFunction",
          FunctionDescriptor.ofVoid(JAVA_LONG, ADDRESS));
  // void TF_RegisterOpDefinition(TF_OpDefinitionBuilder*, TF_Status*); takes the builder
  private static final MethodHandle REGISTER =
      FrameworkLibrary.function(
          "TF_RegisterOpDefinition", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));

  /// Copies the list.
  public OpDefinition {
    attributes = List.copyOf(attributes);
  }

  /// Adds the op to the process's registry. Doing so twice in one process reports success and then
  /// **aborts the process** at the next look-up of any op: the caller must see to it.
  public void register() {
    try (Arena arena = Arena.ofConfined();
        Status status = new Status()) {
      long builder = (long) NEW.invokeExact(arena.allocateFrom(name));
      for (String attribute : attributes) {
        ADD_ATTRIBUTE.invokeExact(builder, arena.allocateFrom(attribute));
      }
      switch (ends) {
        case INPUT_AND_OUTPUT -> {
          ADD_INPUT.invokeExact(builder, arena.allocateFrom("x: T"));
          ADD_OUTPUT.invokeExact(builder, arena.allocateFrom("y: T"));
        }
        case INPUTS -> ADD_INPUT.invokeExact(builder, arena.allocateFrom("x: N * T"));
        case OUTPUT -> ADD_OUTPUT.invokeExact(builder, arena.allocateFrom("y: T"));
        case OUTPUTS -> ADD_OUTPUT.invokeExact(builder, arena.allocateFrom("y: N * T"));
      }
      SET_STATEFUL.invokeExact(builder, true);
      MemorySegment shapes =
          switch (ends) {
            case INPUT_AND_OUTPUT -> ShapeInference.SAME_AS_INPUT;
            case INPUTS, OUTPUT, OUTPUTS -> ShapeInference.UNKNOWN;
          };
      SET_SHAPE_FUNCTION.invokeExact(builder, shapes);
      REGISTER.invokeExact(builder, status.address());
      status.check("registering op " + name);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_RegisterOpDefinition", t);
    }
  }
}
