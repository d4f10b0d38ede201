// SPDX-License-Identifier: Apache-2.0
/// Rows of a parameter server's tables on the disk, by RocksDB. Found by `ServiceLoader`; nothing
/// in it is called by programs.
@org.jspecify.annotations.NullMarked
module io.weft.kv.rocksdb {
  requires static transitive org.jspecify;
  requires transitive io.weft.kv;
  requires rocksdbjni;

  provides io.weft.kv.spill.RowStoreProvider with
      io.weft.kv.rocksdb.RocksProvider;
}
