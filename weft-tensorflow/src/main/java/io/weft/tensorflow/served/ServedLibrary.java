// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.tensorflow.AsyncKernel;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelRegistration;
import io.weft.tensorflow.ffm.NodeKernels;
import io.weft.tensorflow.ffm.OpDefinition;
import io.weft.tensorflow.ffm.ShapeFunction;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// `WeftServedValue` and `WeftServedGradient` in TensorFlow's registry, with CPU kernels. One per
/// process, like the registry. Thread-safe.
final class ServedLibrary {

  static final String VALUE = "WeftServedValue";
  static final String GRADIENT = "WeftServedGradient";

  /// The number of a tensor in this process.
  static final String TENSOR = "tensor";

  // Mutable and static, like TensorFlow's registry; guarded by the class.
  private static @Nullable ServedLibrary loaded;

  private final HandleTable<AsyncKernel> kernels = new HandleTable<>("kernel");
  private final HandleTable<ServedTensor> tensors = new HandleTable<>("served tensor");

  private ServedLibrary() {}

  /// Loads TensorFlow and registers the ops, if this process has not done so. Throws
  /// `CommException.Setup` if TensorFlow does not load, or does not allow kernels that end on
  /// another thread, because a value must not occupy a TensorFlow thread while it travels.
  static synchronized ServedLibrary load() {
    ServedLibrary library = loaded;
    if (library == null) {
      OpLibrary.load().requireAsynchronous("served variables");
      library = new ServedLibrary();
      library.register(VALUE, List.of(), List.of("value: float"), ValueKernel::new);
      library.register(GRADIENT, List.of("gradient: float"), List.of(), GradientKernel::new);
      loaded = library;
    }
    return library;
  }

  /// Registers a tensor and returns its number, the value of its ops' attribute `tensor`.
  long add(ServedTensor tensor) {
    return tensors.add(tensor);
  }

  /// Removes a tensor whose ops no longer run.
  void remove(long number) {
    var unused = tensors.remove(number);
  }

  private void register(
      String op,
      List<String> inputs,
      List<String> outputs,
      Function<ServedTensor, AsyncKernel> maker) {
    new OpDefinition(op, inputs, outputs, ShapeFunction.UNKNOWN, List.of(TENSOR + ": int >= 1"))
        .register();
    new KernelRegistration(
            op,
            new NodeKernels<>(
                kernels,
                node -> maker.apply(tensors.get(node.integer(TENSOR))),
                "; a graph with served variables runs only where it was built, and before they are"
                    + " closed"))
        .registerForAllTypes();
  }
}
