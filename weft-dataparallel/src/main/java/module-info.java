// SPDX-License-Identifier: Apache-2.0
/// Data-parallel training over Weft's collectives.
@org.jspecify.annotations.NullMarked
module io.weft.dataparallel {
  requires static transitive org.jspecify;
  requires transitive io.weft.comm;
  requires org.slf4j;

  exports io.weft.dataparallel;
  exports io.weft.dataparallel.compress;
  exports io.weft.dataparallel.local;

  provides io.weft.config.OptionProvider with
      io.weft.dataparallel.DataParallelConfig;
}
