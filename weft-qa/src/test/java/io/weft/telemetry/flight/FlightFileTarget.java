// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.telemetry.flight.FlightLog.Circle;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.Counts;
import io.weft.telemetry.flight.FlightLog.Event;
import io.weft.telemetry.flight.FlightLog.EventKind;
import io.weft.telemetry.flight.FlightLog.Failure;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.Peer;
import io.weft.telemetry.flight.FlightLog.Self;
import io.weft.telemetry.flight.FlightLog.State;
import io.weft.telemetry.flight.FlightLog.Times;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// A flight file of unknown origin.
public final class FlightFileTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public FlightFileTarget() {}

  @Override
  public String name() {
    return "flight-file";
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(log(List.of()), log(List.of(0, 1, 3)));
  }

  private static byte[] log(List<Integer> awaited) {
    var flight =
        new Flight(
            7,
            3,
            "tab\t'quote' \u2603",
            "allreduce FLOAT32[128, 10] SUM by ring",
            312,
            5_120,
            new FlightLog.Progress(
                State.FAILED, 2, new Times(1_000_000, 2_000_000, FlightLog.NEVER)),
            new FlightLog.Missing(awaited, awaited));
    var log =
        new FlightLog(
            new Self("weft-5", 0, 4, "node7", "4711@17"),
            new Counts(17_000_000, 16_000_000, 7, 6),
            List.of(new Failure(17_000_000, 3, "Aborted", 0, "", "aborted by rank 0")),
            List.of(new Circle(3, 0, 1, List.of(0, 1, 2, 3), CircleState.FAILED, FlightLog.NEVER)),
            List.of(new Peer(1, "node1", FlightLog.NEVER)),
            List.of(new Event(3_000_000, EventKind.STALLED, -1, "for 1200 ms")),
            List.of(flight));
    return log.text().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts("0-65535", "0-2,7", "\\u", "\n");
  }

  /// Allows for a log of a million ranks that is read, written and read again.
  @Override
  public long allocationLimit() {
    return 192L << 20;
  }

  @Override
  public void decode(byte[] input) {
    FlightLog log;
    try {
      log = FlightFile.decoded(input, 0);
    } catch (IllegalArgumentException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
      return;
    }
    if (!FlightLog.parse(log.text()).equals(log)) {
      throw new AssertionError("read back differently: " + log);
    }
  }
}
