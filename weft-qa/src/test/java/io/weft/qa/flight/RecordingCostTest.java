// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.flight;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.weft.cluster.Member;
import io.weft.cluster.Processors;
import io.weft.cluster.Topology;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationStage;
import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightRecorder;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.Timeline;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RecordingCostTest {

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int OPERATIONS = 10_000;

  private record Submission(
      long id,
      long communicator,
      String name,
      String words,
      int sequence,
      long bytes,
      long submittedNanos,
      List<Integer> awaited,
      List<Integer> unsubmitted)
      implements ObservedOperation {

    @Override
    public Service service() {
      return Service.COLLECTIVE;
    }

    @Override
    public int lastHeard() {
      return -1;
    }
  }

  @Test
  void recordingAllocatesNothing() {
    var topology =
        new Topology(
            0, List.of(new Member(0, 0, 0, "node0", "77@0", Processors.UNKNOWN, List.of())));
    var recorder = new FlightRecorder();
    recorder.joined(FlightLog.Self.of("job", topology, 0), topology, 0, rank -> 0);
    var operation = new Submission(1, 7, "g", "allreduce", 311, 8, 1, List.of(), List.of());
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < OPERATIONS; i++) {
        recorder.submitted(operation);
        recorder.reached(operation, OperationStage.STARTED, 0, i);
        recorder.reached(operation, OperationStage.EXCHANGE, 0, i);
        recorder.ended(operation, null, i);
        recorder.onDutyCycle(i);
      }
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(least).isLessThan(OPERATIONS); // less than one byte per operation
  }

  @Test
  void theTimelineAllocatesNothing() {
    var timeline = new Timeline(() -> 0, Timeline.FEWEST);
    var operation = new Submission(1, 7, "g", "allreduce", 311, 8, 1, List.of(), List.of());
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < OPERATIONS; i++) {
        timeline.submitted(operation);
        timeline.reached(operation, OperationStage.STARTED, 0, i);
        timeline.reached(operation, OperationStage.SENT, 0, i);
        timeline.ended(operation, null, i);
        timeline.record(SpanCategory.FUSE, "fuse", i, i + 1, -1);
      }
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    assertThat(least).isLessThan(OPERATIONS); // less than one byte per operation
  }
}
