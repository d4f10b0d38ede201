// SPDX-License-Identifier: Apache-2.0
/// A parameter server: tables whose rows lie in shards, and the rules by which pushes change them.
@org.jspecify.annotations.NullMarked
module io.weft.kv {
  requires static transitive org.jspecify;
  requires transitive io.weft.comm;

  exports io.weft.kv.rule;
  exports io.weft.kv.table;
}
