// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import java.util.concurrent.ScheduledExecutorService;

/// The state that all workers of a case share, under Weft and under gRPC.
///
/// @param timer the timer of the computations
/// @param window the measuring time
/// @param end is notified of ended workers and of errors
record TrafficCell(ScheduledExecutorService timer, MeasuringWindow window, CaseEnd end) {}
