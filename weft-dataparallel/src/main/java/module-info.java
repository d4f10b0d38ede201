// SPDX-License-Identifier: Apache-2.0
/// Data-parallel training over Weft's collectives.
@org.jspecify.annotations.NullMarked
module io.weft.dataparallel {
  requires static transitive org.jspecify;
  requires transitive io.weft.comm;
  requires io.prometheus.metrics.core;
  requires io.prometheus.metrics.model;
  requires io.prometheus.writer.text;
  requires jdk.jfr;
  requires org.slf4j;

  exports io.weft.dataparallel;
  exports io.weft.dataparallel.adasum;
  exports io.weft.dataparallel.compress;
  exports io.weft.dataparallel.local;
  exports io.weft.dataparallel.metrics;
  exports io.weft.dataparallel.rate;
  exports io.weft.dataparallel.sentinel;
  exports io.weft.dataparallel.sparse;
  exports io.weft.dataparallel.timeline;

  provides io.weft.InstrumentProvider with
      io.weft.dataparallel.metrics.MetricsInstrument,
      io.weft.dataparallel.timeline.TimelineInstrument;
  provides io.weft.config.OptionProvider with
      io.weft.dataparallel.DataParallelConfig,
      io.weft.dataparallel.metrics.MetricsConfig,
      io.weft.dataparallel.timeline.TimelineConfig;
}
