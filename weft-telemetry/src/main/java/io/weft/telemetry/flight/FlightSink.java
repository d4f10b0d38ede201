// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import java.io.IOException;

/// The destination of a rank's log after a failure. May block; never called by a progress thread.
@FunctionalInterface
public interface FlightSink {

  /// Takes a log, which replaces the previous one.
  void put(FlightLog log) throws IOException;
}
