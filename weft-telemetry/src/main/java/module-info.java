// SPDX-License-Identifier: Apache-2.0
/// What a rank records about itself: flight recorder, timeline and metrics.
@org.jspecify.annotations.NullMarked
module io.weft.telemetry {
  requires static transitive org.jspecify;
  requires transitive io.weft.comm;
  requires io.prometheus.metrics.core;
  requires io.prometheus.metrics.model;
  requires io.prometheus.writer.text;
  requires jdk.jfr;
  requires org.slf4j;

  exports io.weft.telemetry.flight;
  exports io.weft.telemetry.metrics;
  exports io.weft.telemetry.timeline;

  provides io.weft.InstrumentProvider with
      io.weft.telemetry.flight.FlightInstrument.Provider,
      io.weft.telemetry.metrics.MetricsInstrument.Provider,
      io.weft.telemetry.timeline.TimelineInstrument.Provider;
  provides io.weft.config.OptionProvider with
      io.weft.telemetry.flight.FlightConfig,
      io.weft.telemetry.metrics.MetricsConfig,
      io.weft.telemetry.timeline.TimelineConfig;
}
