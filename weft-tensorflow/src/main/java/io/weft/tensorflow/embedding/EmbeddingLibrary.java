// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.ffm.NumberedOps;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `WeftLookup`, `WeftLookupAll`, `WeftPush` and `WeftPrefetch` in TensorFlow's registry, with CPU
/// kernels. One per process, like the registry. Thread-safe.
final class EmbeddingLibrary {

  static final String LOOKUP = "WeftLookup";
  static final String LOOKUP_ALL = "WeftLookupAll";
  static final String PUSH = "WeftPush";
  static final String PREFETCH = "WeftPrefetch";

  /// The number of a table in this process.
  static final String TABLE = "table";

  /// The number of a group of tables in this process.
  static final String GROUP = "group";

  private static final String REMEDY =
      "; a graph with embeddings runs only where it was built, and before its embeddings are"
          + " closed";

  // Mutable and static, like TensorFlow's registry; guarded by the class.
  private static @Nullable NumberedOps<EmbeddingRows> loaded;
  private static @Nullable NumberedOps<List<EmbeddingRows>> loadedGroups;

  private EmbeddingLibrary() {}

  /// Loads TensorFlow and registers the ops, if this process has not done so. Throws
  /// `CommException.Setup` if TensorFlow does not load, or if its C++ library does not allow
  /// kernels that end on another thread, because a lookup must not occupy a TensorFlow thread.
  static synchronized NumberedOps<EmbeddingRows> load() {
    NumberedOps<EmbeddingRows> ops = loaded;
    if (ops == null) {
      OpLibrary.load().requireAsynchronous("embeddings");
      ops = new NumberedOps<>(TABLE, "embedding", REMEDY);
      ops.register(LOOKUP, List.of("ids: int64"), List.of("rows: float"), LookupKernel::new);
      ops.register(PUSH, List.of("ids: int64", "values: float"), List.of(), PushKernel::new);
      ops.register(PREFETCH, List.of("ids: int64"), List.of(), PrefetchKernel::new);
      loaded = ops;
    }
    return ops;
  }

  /// Registers the op of several tables, as `load` does the ops of one.
  static synchronized NumberedOps<List<EmbeddingRows>> loadGroups() {
    NumberedOps<List<EmbeddingRows>> ops = loadedGroups;
    if (ops == null) {
      ops = new NumberedOps<>(GROUP, "group of embeddings", REMEDY);
      ops.register(
          LOOKUP_ALL,
          List.of("ids: N * int64"),
          List.of("rows: N * float"),
          GroupLookupKernel::new,
          "N: int >= 1");
      loadedGroups = ops;
    }
    return ops;
  }
}
