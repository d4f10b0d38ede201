// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.Member;
import io.weft.cluster.Processors;
import io.weft.cluster.Topology;
import io.weft.comm.CommException;
import io.weft.observer.OperationStage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FlightWriterTest {

  private final List<FlightLog> written = Collections.synchronizedList(new ArrayList<>());
  private final FlightRecorder recorder = new FlightRecorder();

  FlightWriterTest() {
    var topology =
        new Topology(
            0, List.of(new Member(0, 0, 0, "node0", "77@0", Processors.UNKNOWN, List.of())));
    recorder.joined(FlightLog.Self.of("job", topology, 0), topology, 0, r -> 0);
    recorder.onOpen(7, 0, 1, List.of(0));
  }

  private void fail(String name, long nanos) {
    Submission operation = Submission.of(name, 0);
    Submission number = begin(operation, nanos);
    recorder.reached(number, OperationStage.EXCHANGE, 0, nanos);
    recorder.ended(operation, new CommException.Mismatch(name), nanos);
  }

  @Test
  void withoutFailureNothingIsWritten() {
    try (var writer = FlightWriter.open(recorder, () -> 9, List.of(written::add))) {
      recorder.ended(begin(Submission.of("g", 0), 1), null, 2);
      assertThat(writer.log().operations()).hasSize(1);
    }
    assertThat(written).isEmpty();
  }

  @Test
  void laterFailuresReplaceTheLogAndKeepTheFirstCause() throws Exception {
    var first = new CountDownLatch(1);
    FlightSink sink =
        log -> {
          written.add(log);
          first.countDown();
        };
    try (var writer = FlightWriter.open(recorder, () -> 9, List.of(sink))) {
      fail("a", 1);
      first.await();
      fail("b", 2);
      fail("c", 3);
      assertThat(writer.log().failures()).hasSize(3);
    }
    FlightLog last = written.getLast();
    assertThat(last.failures()).extracting(FlightLog.Failure::words).containsExactly("a", "b", "c");
    assertThat(last.operations()).hasSize(3);
  }

  @Test
  void aSinkThatThrowsIsNotTriedAgain() throws Exception {
    var tries = new AtomicInteger();
    var first = new CountDownLatch(1);
    FlightSink unreachable =
        log -> {
          tries.incrementAndGet();
          throw new IOException("out of reach");
        };
    FlightSink sink =
        log -> {
          written.add(log);
          first.countDown();
        };
    try (var writer = FlightWriter.open(recorder, () -> 9, List.of(unreachable, sink))) {
      fail("a", 1);
      first.await();
      fail("b", 2);
      assertThat(writer.log().failures()).hasSize(2);
    }
    assertThat(written.getLast().failures()).hasSize(2);
    assertThat(tries).hasValue(1);
  }

  @Test
  void aSinkThatThrowsDoesNotAffectOtherSinks() {
    FlightSink refusing =
        log -> {
          throw new IOException("disk full");
        };
    try (var writer = FlightWriter.open(recorder, () -> 9, List.of(refusing, written::add))) {
      fail("a", 1);
      assertThat(writer.log().failures()).hasSize(1);
    }
    assertThat(written).hasSize(1);
  }

  private Submission begin(Submission operation, long nanos) {
    recorder.reached(operation, OperationStage.STARTED, 0, nanos);
    return operation;
  }
}
