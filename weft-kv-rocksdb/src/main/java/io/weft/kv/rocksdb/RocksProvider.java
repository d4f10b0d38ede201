// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rocksdb;

import io.weft.kv.spill.RowStoreException;
import io.weft.kv.spill.RowStoreProvider;
import io.weft.kv.spill.RowStores;
import org.rocksdb.RocksDB;

/// The provider of stores with RocksDB. Stateless; any thread.
public final class RocksProvider implements RowStoreProvider {

  /// For `ServiceLoader`.
  public RocksProvider() {}

  @Override
  public RowStores stores(long cacheBytes) {
    try {
      RocksDB.loadLibrary();
    } catch (RuntimeException | LinkageError unusable) {
      throw new RowStoreException(
          "RocksDB's native library cannot be loaded here; it is for Linux with glibc, and is"
              + " written to java.io.tmpdir first: "
              + unusable,
          unusable);
    }
    return new RocksStores(cacheBytes);
  }
}
