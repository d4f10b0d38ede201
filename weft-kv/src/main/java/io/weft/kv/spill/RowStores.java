// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import java.nio.file.Path;

/// The stores of one server, which share memory. Any thread.
public interface RowStores extends AutoCloseable {

  /// Opens an empty store. Throws `RowStoreException`.
  ///
  /// @param directory an existing, empty directory for this store alone
  /// @param rowBytes length of its rows
  RowStore open(Path directory, int rowBytes);

  /// Frees the shared memory. Throws `IllegalStateException` while a store is open.
  @Override
  void close();
}
