// SPDX-License-Identifier: Apache-2.0
/// The flight recorder of a rank: its last operations, kept in memory at negligible cost, and the
/// small file that documents them after a failure. Recorded on the progress thread, read on any.
///
/// ```java
/// FlightLog log = FlightInstrument.log(weft);
/// List<String> reasons = log.failures().stream().map(FlightLog.Failure::words).toList();
/// FlightLog same = FlightLog.parse(log.text()); // as in a flight file
/// ```
@NullMarked
package io.weft.telemetry.flight;

import org.jspecify.annotations.NullMarked;
