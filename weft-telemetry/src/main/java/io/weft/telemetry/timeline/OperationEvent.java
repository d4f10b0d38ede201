// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/// The Java Flight Recorder event of an operation that has ended.
@Name("io.weft.Operation")
@Label("Weft Operation")
@Category("Weft")
@Description("An operation of this rank, at its end")
@StackTrace(false)
final class OperationEvent extends Event {

  @Label("Service")
  String service = "";

  @Label("Name")
  String name = "";

  @Label("Operation")
  String words = "";

  @Label("Bytes")
  long bytes;

  @Label("Time from submission to end")
  @Timespan(Timespan.NANOSECONDS)
  long lasted;

  @Label("Rank heard of last")
  @Description("-1 for none")
  int lastHeard;

  @Label("Failure")
  @Nullable String failure;

  private OperationEvent() {}

  /// Commits an event. Allocates only while Java Flight Recorder is in use.
  static void commit(ObservedOperation operation, @Nullable CommException failure, long nanos) {
    if (!FlightRecorder.isInitialized()) {
      return;
    }
    var event = new OperationEvent();
    if (!event.shouldCommit()) {
      return;
    }
    event.service = operation.service().name();
    event.name = operation.name();
    event.words = operation.words();
    event.bytes = operation.bytes();
    long submitted = operation.submittedNanos();
    event.lasted = submitted == 0 ? 0 : nanos - submitted;
    event.lastHeard = operation.lastHeard();
    event.failure = failure == null ? null : failure.getMessage();
    event.commit();
  }
}
