// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation.Service;
import io.weft.observer.OperationStage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TimelineTest {

  private static final TimelineWriter.Owner OWNER = new TimelineWriter.Owner("job", 1, 3, "node7");

  private final AtomicLong clock = new AtomicLong();
  private final Timeline timeline = new Timeline(clock::get, Timeline.FEWEST);

  private static void record(Timeline timeline, Observed operation) {
    long at = operation.submittedNanos();
    timeline.submitted(operation);
    timeline.reached(operation, OperationStage.STARTED, 0, at + 1);
    timeline.reached(operation, OperationStage.EXCHANGE, 0, at + 2);
    timeline.reached(operation, OperationStage.NEGOTIATED, 0, at + 3);
    timeline.reached(operation, OperationStage.SENT, 0, at + 4);
    timeline.reached(operation, OperationStage.REDUCED, 0, at + 5);
    timeline.ended(operation, null, at + 6);
  }

  private static List<TimelineEvent> read(Timeline timeline) throws IOException {
    var bytes = new ByteArrayOutputStream();
    TimelineWriter.write(timeline, OWNER, List.of(), bytes);
    TimelineReader reader = TimelineReader.open(new ByteArrayInputStream(bytes.toByteArray()));
    List<TimelineEvent> events = new ArrayList<>();
    for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
      events.add(event);
    }
    assertThat(reader.cutOff()).isEmpty();
    return events;
  }

  @Test
  void operationsOnTablesAreRecordedByName() throws IOException {
    record(timeline, new Observed(Service.KV_WORKER, 5, "pull deep", 0, 5_000));
    record(timeline, new Observed(Service.KV_SERVER, 6, "push wide", 0, 6_000));
    List<TimelineEvent> events = read(timeline);
    assertThat(events).noneMatch(TimelineEvent::isCollective);
    assertThat(events)
        .filteredOn(event -> event.kind() == EventKind.DONE)
        .extracting(TimelineEvent::name)
        .containsExactly("pull deep", "push wide");
    assertThat(events.stream().map(TimelineEvent::operation).distinct()).hasSize(2);
  }

  @Test
  void operationIsRecordedStageByStage() throws IOException {
    record(timeline, Observed.named(5, "g"));
    List<TimelineEvent> events = read(timeline);
    assertThat(events)
        .extracting(TimelineEvent::kind)
        .containsExactly(
            EventKind.SUBMITTED,
            EventKind.STARTED,
            EventKind.EXCHANGE,
            EventKind.NEGOTIATED,
            EventKind.SENT,
            EventKind.REDUCED,
            EventKind.DONE);
    assertThat(events).extracting(TimelineEvent::name).containsOnly("g");
    assertThat(events).extracting(TimelineEvent::operation).containsOnly(5L << 2 | 1);
    assertThat(events)
        .extracting(TimelineEvent::nanos)
        .containsExactly(5000L, 5001L, 5002L, 5003L, 5004L, 5005L, 5006L);
    assertThat(events.get(0).value()).isEqualTo(8);
    assertThat(events.get(1).detail()).isEqualTo(77);
    assertThat(events.get(6).value()).isEqualTo(1);
  }

  @Test
  void failedAndWithdrawnOperationsAreRecorded() throws IOException {
    var cause = new CommException.Broken("g broke", 0, new IllegalStateException());
    timeline.ended(Observed.named(1, "g"), cause, 7);
    timeline.withdrawn(Observed.named(2, "h"), cause, 8);
    assertThat(read(timeline))
        .extracting(TimelineEvent::kind)
        .containsExactly(EventKind.FAILED, EventKind.WITHDRAWN);
  }

  @Test
  void spansHaveBeginningAndEnd() throws IOException {
    clock.set(10);
    try (Span _ = timeline.step(42)) {
      clock.set(20);
      try (Span _ = timeline.span(SpanCategory.INPUT, "read")) {
        clock.set(30);
      }
      clock.set(50);
    }
    timeline.record(SpanCategory.WAIT, "g", 60, 70, 2);
    List<TimelineEvent> events = read(timeline);
    assertThat(events)
        .extracting(TimelineEvent::category)
        .containsExactly(SpanCategory.INPUT, SpanCategory.STEP, SpanCategory.WAIT);
    assertThat(events).extracting(TimelineEvent::nanos).containsExactly(20L, 10L, 60L);
    assertThat(events).extracting(TimelineEvent::value).containsExactly(30L, 50L, 70L);
    assertThat(events).extracting(TimelineEvent::detail).containsExactly(-1L, 42L, 2L);
  }

  @Test
  void theLatestEventsAreKept() throws IOException {
    for (int i = 0; i < 5000; i++) {
      timeline.record(SpanCategory.COMPUTE, "c", i, i + 1, -1);
    }
    List<TimelineEvent> events = read(timeline);
    assertThat(events).hasSize(Timeline.FEWEST);
    assertThat(events.getFirst().nanos()).isEqualTo(5000 - Timeline.FEWEST);
    assertThat(events.getLast().nanos()).isEqualTo(4999);
  }

  @Test
  void nothingIsRecordedBetweenStopAndStart() throws IOException {
    timeline.stop();
    record(timeline, Observed.named(1, "a"));
    timeline.record(SpanCategory.COMPUTE, "c", 1, 2, -1);
    assertThat(timeline.hearsStages()).isFalse();
    timeline.start();
    record(timeline, Observed.named(2, "b"));
    assertThat(read(timeline)).hasSize(7).extracting(TimelineEvent::name).containsOnly("b");
  }

  @Test
  void namesBeyondTheLimitShareOneName() throws IOException {
    for (int i = 0; i < NameTable.MOST + 10; i++) {
      timeline.record(SpanCategory.COMPUTE, "name " + i, i, i, -1);
    }
    List<TimelineEvent> events = read(timeline);
    assertThat(events.getLast().name()).isEqualTo("(other names)");
    assertThat(events.getFirst().name()).startsWith("name ");
  }

  @Test
  void threadsRecordAtOnceAndReadersSeeWholeEvents() throws Exception {
    List<Thread> writers =
        IntStream.range(0, 3)
            .mapToObj(
                t ->
                    Thread.ofPlatform()
                        .name("writer-" + t)
                        .start(
                            () -> {
                              for (int i = 0; i < 200_000; i++) {
                                timeline.record(SpanCategory.COMPUTE, "w" + t, i, i, i);
                              }
                            }))
            .toList();
    int seen = 0;
    while (writers.stream().anyMatch(Thread::isAlive)) {
      for (TimelineEvent event : read(timeline)) {
        assertThat(event.value()).isEqualTo(event.nanos()).isEqualTo(event.detail());
        seen++;
      }
    }
    assertThat(read(timeline)).hasSize(Timeline.FEWEST);
    assertThat(seen).isPositive();
  }

  @Test
  void javaFlightRecorderRecordsOperations(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("weft.jfr");
    try (var recording = new Recording()) {
      recording.enable("io.weft.Operation");
      recording.start();
      record(timeline, Observed.named(3, "jfr"));
      recording.stop();
      recording.dump(file);
    }
    assertThat(Files.size(file)).isPositive();
    List<RecordedEvent> events = RecordingFile.readAllEvents(file);
    assertThat(events).hasSize(1);
    assertThat(events.getFirst().getString("name")).isEqualTo("jfr");
    assertThat(events.getFirst().getDuration("lasted").toNanos()).isEqualTo(6);
    assertThat(events.getFirst().getInt("lastHeard")).isEqualTo(1);
  }

  @Test
  void sizeIsBounded() {
    assertThatThrownBy(() -> new Timeline(clock::get, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a timeline keeps 1024 to 4194304 events, not 1");
  }
}
