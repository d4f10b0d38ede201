// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.ffm.HandleTable;
import io.weft.tensorflow.ffm.KernelRegistration;
import io.weft.tensorflow.ffm.NodeKernels;
import io.weft.tensorflow.ffm.OpDefinition;
import io.weft.tensorflow.ffm.ShapeFunction;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// `WeftLookup`, `WeftPush` and `WeftPrefetch` in TensorFlow's registry, with CPU kernels. One per
/// process, like the registry. Thread-safe.
final class EmbeddingLibrary {

  static final String LOOKUP = "WeftLookup";
  static final String PUSH = "WeftPush";
  static final String PREFETCH = "WeftPrefetch";

  /// The number of a table in this process.
  static final String TABLE = "table";

  // Mutable and static, like TensorFlow's registry; guarded by the class.
  private static @Nullable EmbeddingLibrary loaded;

  private final HandleTable<EmbeddingKernel> kernels = new HandleTable<>("kernel");
  private final HandleTable<EmbeddingRows> tables = new HandleTable<>("embedding");

  private EmbeddingLibrary() {}

  /// Loads TensorFlow and registers the ops, if this process has not done so. Throws
  /// `CommException.Setup` if TensorFlow does not load, or if its C++ library does not allow
  /// kernels that end on another thread, because a lookup must not occupy a TensorFlow thread.
  static synchronized EmbeddingLibrary load() {
    EmbeddingLibrary library = loaded;
    if (library == null) {
      OpLibrary.load().requireAsynchronous("embeddings");
      library = new EmbeddingLibrary();
      library.register(LOOKUP, List.of("ids: int64"), List.of("rows: float"), LookupKernel::new);
      library.register(PUSH, List.of("ids: int64", "values: float"), List.of(), PushKernel::new);
      library.register(PREFETCH, List.of("ids: int64"), List.of(), PrefetchKernel::new);
      loaded = library;
    }
    return library;
  }

  /// Registers a table and returns its number, the value of its ops' attribute `table`.
  long add(EmbeddingRows rows) {
    return tables.add(rows);
  }

  /// Removes a table whose ops no longer run.
  void remove(long number) {
    var unused = tables.remove(number);
  }

  private void register(
      String op,
      List<String> inputs,
      List<String> outputs,
      Function<EmbeddingRows, EmbeddingKernel> maker) {
    new OpDefinition(op, inputs, outputs, ShapeFunction.UNKNOWN, List.of(TABLE + ": int >= 1"))
        .register();
    new KernelRegistration(
            op,
            new NodeKernels<>(
                kernels,
                node -> maker.apply(tables.get(node.integer(TABLE))),
                "; a graph with embeddings runs only where it was built, and before its embeddings"
                    + " are closed"))
        .registerForAllTypes();
  }
}
