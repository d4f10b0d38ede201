// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/// Objects of this process that nodes reference by number, and the op types that work on them.
/// Thread-safe.
public final class NumberedOps<T> {

  private final String attribute;
  private final String remedy;
  private final HandleTable<NodeKernels.NodeKernel> kernels = new HandleTable<>("kernel");
  private final HandleTable<T> objects;

  /// @param attribute the name of the ops' attribute, an object's number
  /// @param noun the kind of the objects, for messages
  /// @param remedy the end of the message if an op's object does not exist
  public NumberedOps(String attribute, String noun, String remedy) {
    this.attribute = Objects.requireNonNull(attribute);
    this.remedy = Objects.requireNonNull(remedy);
    this.objects = new HandleTable<>(Objects.requireNonNull(noun));
  }

  /// Adds an object and returns its number.
  public long add(T object) {
    return objects.add(Objects.requireNonNull(object));
  }

  /// Removes an object whose ops no longer run.
  public void remove(long number) {
    var unused = objects.remove(number);
  }

  /// Registers an op type in TensorFlow, once per process.
  ///
  /// @param inputs such as `ids: int64`
  /// @param outputs likewise
  /// @param maker creates the kernel of a node for its object
  /// @param attributes further ones, such as `N: int >= 1`
  public void register(
      String op,
      List<String> inputs,
      List<String> outputs,
      Function<? super T, ? extends NodeKernels.NodeKernel> maker,
      String... attributes) {
    Objects.requireNonNull(maker);
    List<String> all = new ArrayList<>(List.of(attributes));
    all.add(attribute + ": int >= 1");
    new OpDefinition(op, inputs, outputs, ShapeFunction.UNKNOWN, all).register();
    new KernelRegistration(
            op,
            new NodeKernels<>(
                kernels, node -> maker.apply(objects.get(node.integer(attribute))), remedy))
        .registerForAllTypes();
  }
}
