// SPDX-License-Identifier: Apache-2.0
/// Learning rates that depend on the number of ranks, and metrics averaged over ranks.
///
/// ```java
/// var warmup = new LearningRateWarmup(0.1 * weft.size(), weft.size(), 500);
/// double rate = warmup.at(100);
/// SortedMap<String, Double> own = new TreeMap<>(Map.of("loss", 0.25));
/// SortedMap<String, Double> mean = MetricAverage.of(weft.communicator(), "epoch", own, 64);
/// ```
@NullMarked
package io.weft.dataparallel.rate;

import org.jspecify.annotations.NullMarked;
