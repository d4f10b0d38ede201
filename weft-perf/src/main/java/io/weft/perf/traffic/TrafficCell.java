// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import java.util.concurrent.ScheduledExecutorService;

/// What all workers of a case share, under Weft as under gRPC.
///
/// @param timer what computes
/// @param window when is measured
/// @param end hears when a worker has ended, or what is wrong
record TrafficCell(ScheduledExecutorService timer, MeasuringWindow window, CaseEnd end) {}
