// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.List;

/// A stateful op. TensorFlow neither folds, merges nor drops stateful ops.
///
/// @param name type of the op, such as `WeftAllreduce`
/// @param inputs in TensorFlow's notation: `x: T`
/// @param outputs in TensorFlow's notation
/// @param shapes the outputs' shapes as far as known when a graph is built
/// @param attributes in TensorFlow's notation: `root: int`
public record OpDefinition(
    String name,
    List<String> inputs,
    List<String> outputs,
    ShapeFunction shapes,
    List<String> attributes) {

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

  /// Copies the lists.
  public OpDefinition {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    attributes = List.copyOf(attributes);
  }

  /// Adds the op to the process's registry. A second registration in one process reports success
  /// and then **aborts the process** at the next look-up of any op. The caller must prevent it.
  public void register() {
    try (Arena arena = Arena.ofConfined();
        Status status = new Status()) {
      long builder = (long) NEW.invokeExact(arena.allocateFrom(name));
      for (String attribute : attributes) {
        ADD_ATTRIBUTE.invokeExact(builder, arena.allocateFrom(attribute));
      }
      for (String input : inputs) {
        ADD_INPUT.invokeExact(builder, arena.allocateFrom(input));
      }
      for (String output : outputs) {
        ADD_OUTPUT.invokeExact(builder, arena.allocateFrom(output));
      }
      SET_STATEFUL.invokeExact(builder, true);
      SET_SHAPE_FUNCTION.invokeExact(builder, ShapeInference.function(shapes));
      REGISTER.invokeExact(builder, status.address());
      status.check("registering op " + name);
    } catch (IllegalStateException e) {
      throw e;
    } catch (Throwable t) {
      throw FrameworkLibrary.broken("TF_RegisterOpDefinition", t);
    }
  }
}
