// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.served;

import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.ffm.NumberedOps;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `WeftServedValue` and `WeftServedGradient` in TensorFlow's registry, with CPU kernels. One per
/// process, like the registry. Thread-safe.
final class ServedLibrary {

  static final String VALUE = "WeftServedValue";
  static final String GRADIENT = "WeftServedGradient";

  /// The number of a tensor in this process.
  static final String TENSOR = "tensor";

  // Mutable and static, like TensorFlow's registry; guarded by the class.
  private static @Nullable NumberedOps<ServedTensor> loaded;

  private ServedLibrary() {}

  /// Loads TensorFlow and registers the ops, if this process has not done so. Throws
  /// `CommException.Setup` if TensorFlow does not load, or does not allow kernels that end on
  /// another thread, because a value must not occupy a TensorFlow thread while it travels.
  static synchronized NumberedOps<ServedTensor> load() {
    NumberedOps<ServedTensor> ops = loaded;
    if (ops == null) {
      OpLibrary.load().requireAsynchronous("served variables");
      ops =
          new NumberedOps<>(
              TENSOR,
              "served tensor",
              "; a graph with served variables runs only where it was built, and before they are"
                  + " closed");
      ops.register(VALUE, List.of(), List.of("value: float"), ValueKernel::new);
      ops.register(GRADIENT, List.of("gradient: float"), List.of(), GradientKernel::new);
      loaded = ops;
    }
    return ops;
  }
}
