// SPDX-License-Identifier: Apache-2.0
/// A parameter server: tables whose rows lie in shards, and the rules by which pushes change them.
@org.jspecify.annotations.NullMarked
module io.weft.kv {
  requires static transitive org.jspecify;
  requires transitive io.weft.comm;
  requires org.jctools.core;
  requires org.slf4j;

  exports io.weft.kv;
  exports io.weft.kv.function;
  exports io.weft.kv.key;
  exports io.weft.kv.rule;
  exports io.weft.kv.spec;
  exports io.weft.kv.spill;
  exports io.weft.kv.table;

  uses io.weft.kv.spill.RowStoreProvider;

  provides io.weft.config.OptionProvider with
      io.weft.kv.KvConfig;
}
