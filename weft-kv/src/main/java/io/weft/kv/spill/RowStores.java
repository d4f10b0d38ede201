// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spill;

import java.nio.file.Path;

/// The stores of one server, which share memory. Any thread.
public interface RowStores extends AutoCloseable {

  /// Opens an empty store. Throws `RowStoreException`.
  ///
  /// @param directory of its own, which is there and empty
  /// @param rowBytes length of its rows
  RowStore open(Path directory, int rowBytes);

  /// Frees what stores share. Throws `IllegalStateException` while one is open.
  @Override
  void close();
}
