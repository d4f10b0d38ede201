// SPDX-License-Identifier: Apache-2.0
/// Data-parallel training over Weft's collectives.
@org.jspecify.annotations.NullMarked
module io.weft.dataparallel {
  requires static transitive org.jspecify;
  requires transitive io.weft.comm;
  requires transitive io.weft.telemetry;
  requires org.slf4j;

  exports io.weft.dataparallel;
  exports io.weft.dataparallel.adasum;
  exports io.weft.dataparallel.compress;
  exports io.weft.dataparallel.local;
  exports io.weft.dataparallel.rate;
  exports io.weft.dataparallel.sentinel;
  exports io.weft.dataparallel.sparse;

  provides io.weft.config.OptionProvider with
      io.weft.dataparallel.DataParallelConfig;
}
