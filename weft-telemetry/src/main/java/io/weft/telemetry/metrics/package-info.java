// SPDX-License-Identifier: Apache-2.0
/// The goodput of a job, and the metrics of a rank for monitoring.
///
/// ```java
/// var meter = new GoodputMeter(weft.size());
/// try (RankMetrics metrics = RankMetrics.open(weft, meter, new MetricsAddress("127.0.0.1", 9400))) {
///   meter.step(2_000_000, 300_000, 100_000); // nanoseconds: in all, exposed, preparing the input
/// }
/// ```
@NullMarked
package io.weft.telemetry.metrics;

import org.jspecify.annotations.NullMarked;
