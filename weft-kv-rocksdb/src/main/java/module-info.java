// SPDX-License-Identifier: Apache-2.0
/// Stores rows of a parameter server's tables on disk with RocksDB. `ServiceLoader` finds the
/// module. Programs do not call it directly.
@org.jspecify.annotations.NullMarked
module io.weft.kv.rocksdb {
  requires static transitive org.jspecify;
  requires transitive io.weft.kv;
  requires rocksdbjni;

  provides io.weft.kv.spill.RowStoreProvider with
      io.weft.kv.rocksdb.RocksProvider;
}
