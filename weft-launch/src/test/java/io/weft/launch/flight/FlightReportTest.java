// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import static io.weft.launch.flight.FlightFinding.FindingKind.BEHIND;
import static io.weft.launch.flight.FlightFinding.FindingKind.CROSSED;
import static io.weft.launch.flight.FlightFinding.FindingKind.DISAGREED;
import static io.weft.launch.flight.FlightFinding.FindingKind.GONE;
import static io.weft.launch.flight.FlightFinding.FindingKind.LEFT;
import static io.weft.launch.flight.FlightFinding.FindingKind.NEVER_SUBMITTED;
import static io.weft.launch.flight.FlightFinding.FindingKind.STOOD_STILL;
import static io.weft.launch.flight.FlightFinding.FindingKind.WAITED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightLog.EventKind;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FlightReportTest {

  private static final String K_IS_LATE =
      "the communicator of ranks 0-2 failed 2.0 s into the job; first on rank 0: k is late";

  private record Case(String name, JobLogs evidence, String cause, List<FlightFinding> findings) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static JobLogs logs(Story... stories) {
    return evidence(Map.of(), stories);
  }

  private static JobLogs evidence(Map<Integer, String> ended, Story... stories) {
    var logs = new TreeMap<Integer, FlightLog>();
    Stream.of(stories).map(Story::log).forEach(log -> logs.put(log.self().rank(), log));
    return new JobLogs(logs, ended, Map.of());
  }

  private static Story rank(int rank) {
    return Story.of(rank, 3);
  }

  /// Returns logs in which ranks 0 and 1 waited in `k`, which rank 2 had not submitted.
  private static JobLogs late(Story two) {
    return logs(
        rank(0).waited("k", 1, 5).failed(20, "Aborted", "k is late"),
        rank(1).waited("k", 1, 5).told(20, "Aborted", 0, "said"),
        two);
  }

  private static FlightFinding about(
      FlightFinding.FindingKind kind,
      List<Integer> ranks,
      String operation,
      int use,
      String words) {
    return new FlightFinding(kind, ranks, operation, use, words);
  }

  static List<Case> cases() {
    return List.of(
        new Case(
            "never submitted",
            logs(
                rank(0).done("b", 7, 50).waited("k", 7, 52, 2).failed(112, "Aborted", "k is late"),
                rank(1).done("b", 7, 51).waited("k", 7, 53, 0).told(112, "Aborted", 0, "said"),
                rank(2).done("b", 7, 71).told(112, "Aborted", 0, "said")),
            "the communicator of ranks 0-2 failed 11.2 s into the job; first on rank 0: k is late",
            List.of(
                about(
                    NEVER_SUBMITTED,
                    List.of(2),
                    "allreduce 'k'",
                    7,
                    "rank 2 on node2 never submitted allreduce 'k' (use 7); its last was allreduce"
                        + " 'b' (use 7), done 4.1 s before; ranks 0-1 waited in it"))),
        new Case(
            "never submitted any of many",
            logs(
                rank(0)
                    .waited("a", 1, 1)
                    .waited("b", 1, 2)
                    .waited("c", 1, 3)
                    .failed(9, "Aborted", "x"),
                rank(1)
                    .waited("c", 1, 2)
                    .waited("b", 1, 2)
                    .waited("a", 1, 4)
                    .failed(9, "Aborted", "y"),
                rank(2).told(9, "Aborted", 0, "said")),
            "the communicator of ranks 0-2 failed 0.9 s into the job; first on rank 0: x",
            List.of(
                about(
                    NEVER_SUBMITTED,
                    List.of(2),
                    "allreduce 'a'",
                    1,
                    "rank 2 on node2 never submitted allreduce 'a' (use 1) and 2 others; it had"
                        + " finished no operation; ranks 0-1 waited in it"))),
        new Case(
            "submitted too late",
            late(rank(2).told(20, "Aborted", 0, "said").late("k", 1, 53)),
            K_IS_LATE,
            List.of(
                about(
                    NEVER_SUBMITTED,
                    List.of(2),
                    "allreduce 'k'",
                    1,
                    "rank 2 on node2 never submitted allreduce 'k' (use 1); it did 3.3 s after the"
                        + " failure; ranks 0-1 waited in it"))),
        new Case(
            "its progress thread stood still",
            late(rank(2).queued("k", 6).stoodStill(80)),
            K_IS_LATE,
            List.of(
                about(
                    NEVER_SUBMITTED,
                    List.of(2),
                    "allreduce 'k'",
                    1,
                    "rank 2 on node2 never submitted allreduce 'k' (use 1); its user has, but its"
                        + " progress thread had not taken it; ranks 0-1 waited in it"),
                about(
                    STOOD_STILL,
                    List.of(2),
                    "",
                    0,
                    "rank 2 on node2: its progress thread had stood still for 8.0 s, with 1"
                        + " operations not taken"))),
        new Case(
            "a step behind",
            logs(
                rank(0).done("g", 311, 5).waited("g", 312, 6, 2).failed(20, "Aborted", "late"),
                rank(1).done("g", 311, 5).waited("g", 312, 6, 0).told(20, "Aborted", 0, "said"),
                rank(2).waited("g", 311, 6, 1).told(20, "Aborted", 0, "said")),
            "the communicator of ranks 0-2 failed 2.0 s into the job; first on rank 0: late",
            List.of(
                about(
                    BEHIND,
                    List.of(2),
                    "allreduce 'g'",
                    312,
                    "rank 2 on node2 is 1 step behind: it waited in allreduce 'g' (use 311), ranks"
                        + " 0-1 in use 312"))),
        new Case(
            "killed",
            evidence(
                Map.of(1, "killed by SIGKILL (exit code 137)"),
                rank(0)
                    .done("b", 3, 50)
                    .waited("k", 4, 60, 1)
                    .heard(1, 68)
                    .event(EventKind.LOST, 1, 70)
                    .failed(70, "PeerLost", "rank 1 on node1 is lost"),
                rank(2)
                    .done("b", 3, 50)
                    .heard(1, 60)
                    .told(71, "PeerLost", 0, "rank 1 on node1 is lost")),
            "the communicator of ranks 0-2 failed 7.0 s into the job; first on rank 0: rank 1 on"
                + " node1 is lost",
            List.of(
                about(
                    GONE,
                    List.of(1),
                    "allreduce 'k'",
                    4,
                    "rank 1 on node1 left no file: killed by SIGKILL (exit code 137); rank 0 heard"
                        + " of it last 0.2 s before the failure; rank 0 waited in allreduce 'k'"
                        + " (use 4)"))),
        new Case(
            "ended with work under way",
            evidence(
                Map.of(1, "exit code 3"),
                rank(0)
                    .waited("k", 4, 60, 1)
                    .event(EventKind.LOST, 1, 70)
                    .failed(70, "PeerLost", "rank 1 is lost"),
                rank(1).running("k", 4, 61)),
            "the communicator of ranks 0-2 failed 7.0 s into the job; first on rank 0: rank 1 is"
                + " lost",
            List.of(
                about(
                    GONE,
                    List.of(1),
                    "allreduce 'k'",
                    4,
                    "rank 1 on node1 was lost: exit code 3; rank 0 heard of it last 0.0 s before"
                        + " the failure; ranks 0-1 waited in allreduce 'k' (use 4); it waited in"
                        + " allreduce 'k' (use 4)"),
                about(
                    GONE,
                    List.of(2),
                    "allreduce 'k'",
                    4,
                    "rank 2 on node2 left no file; rank 0 heard of it last 0.0 s before the"
                        + " failure; ranks 0-1 waited in allreduce 'k' (use 4)"))),
        new Case(
            "left in order",
            logs(
                rank(0)
                    .waited("k", 4, 60, 1)
                    .event(EventKind.LEFT, 1, 70)
                    .failed(70, "PeerLost", "rank 1 left the job"),
                rank(2).done("b", 1, 3).event(EventKind.LEFT, 1, 70).told(71, "PeerLost", 0, "x")),
            "the communicator of ranks 0-2 failed 7.0 s into the job; first on rank 0: rank 1 left"
                + " the job",
            List.of(
                about(
                    LEFT,
                    List.of(1),
                    "allreduce 'k'",
                    4,
                    "rank 1 on node1 left the job in order; rank 0 waited in allreduce 'k' (use"
                        + " 4)"))),
        new Case(
            "disagreed",
            logs(
                rank(0).waitedAs("allreduce FLOAT32[3] SUM", "g", 1, 5).failed(6, "Mismatch", "m"),
                rank(1).waitedAs("allreduce FLOAT32[4] SUM", "g", 1, 5).failed(7, "Mismatch", "m"),
                rank(2).waitedAs("allreduce FLOAT32[3] SUM", "g", 1, 5).failed(8, "Mismatch", "m")),
            "the communicator of ranks 0-2 failed 0.6 s into the job; first on rank 0: m",
            List.of(
                about(
                    DISAGREED,
                    List.of(0, 1, 2),
                    "allreduce 'g'",
                    1,
                    "ranks disagree on 'g' (use 1): ranks 0,2 submitted allreduce FLOAT32[3] SUM,"
                        + " rank 1 submitted allreduce FLOAT32[4] SUM"))),
        new Case(
            "crosswise",
            logs(
                rank(0).waited("a", 1, 5).failed(20, "Aborted", "late"),
                rank(1).waited("b", 1, 6).told(20, "Aborted", 0, "said"),
                rank(2).waited("a", 1, 7).told(20, "Aborted", 0, "said")),
            "the communicator of ranks 0-2 failed 2.0 s into the job; first on rank 0: late",
            List.of(
                about(
                    NEVER_SUBMITTED,
                    List.of(1),
                    "allreduce 'a'",
                    1,
                    "rank 1 on node1 never submitted allreduce 'a' (use 1); it waited in allreduce"
                        + " 'b' (use 1); ranks 0,2 waited in it"),
                about(
                    NEVER_SUBMITTED,
                    List.of(0, 2),
                    "allreduce 'b'",
                    1,
                    "ranks 0,2 never submitted allreduce 'b' (use 1); rank 0 on node0: it waited in"
                        + " allreduce 'a' (use 1); rank 2 on node2: it waited in allreduce 'a' (use"
                        + " 1); rank 1 waited in it"),
                about(
                    CROSSED,
                    List.of(0, 1),
                    "allreduce 'a'",
                    1,
                    "ranks wait crosswise: rank 0 in allreduce 'a' (use 1), rank 1 in allreduce 'b'"
                        + " (use 1); submit both before waiting for one, or in the same order on"
                        + " all ranks"))),
        new Case(
            "all wait in a ring for one",
            logs(
                rank(0)
                    .waited("g", 2, 5, 2)
                    .heard(1, 50)
                    .heard(2, 99)
                    .failed(100, "Aborted", "late"),
                rank(1)
                    .waited("g", 2, 5, 0)
                    .heard(0, 99)
                    .heard(2, 99)
                    .told(100, "Aborted", 0, "said"),
                rank(2)
                    .waited("g", 2, 5, 1)
                    .heard(0, 99)
                    .heard(1, 60)
                    .told(100, "Aborted", 0, "said")),
            "the communicator of ranks 0-2 failed 10.0 s into the job; first on rank 0: late",
            List.of(
                about(
                    WAITED,
                    List.of(1),
                    "allreduce 'g'",
                    2,
                    "all had submitted allreduce 'g' (use 2) and waited: rank 0 for rank 2, rank 1"
                        + " for rank 0, rank 2 for rank 1; the one not heard of for longest is rank"
                        + " 1 on node1"))),
        new Case(
            "one had finished its part",
            logs(
                rank(0).done("g", 2, 5).told(100, "Aborted", 1, "said"),
                rank(1).waited("g", 2, 5, 0).failed(100, "Aborted", "late"),
                rank(2).waited("g", 2, 5, 0).told(100, "Aborted", 1, "said")),
            "the communicator of ranks 0-2 failed 10.0 s into the job; first on rank 1: late",
            List.of(
                about(
                    WAITED,
                    List.of(0),
                    "allreduce 'g'",
                    2,
                    "all had submitted allreduce 'g' (use 2) and waited: rank 1 for rank 0, rank 2"
                        + " for rank 0; rank 0 had finished it; the one not heard of for longest is"
                        + " rank 0 on node0"))),
        new Case(
            "ended before any failure",
            logs(rank(0).running("g", 1, 5), rank(1).running("g", 1, 5), rank(2).done("f", 1, 2)),
            "no rank had noticed a failure; operations were under way when they ended",
            List.of(
                about(
                    NEVER_SUBMITTED,
                    List.of(2),
                    "allreduce 'g'",
                    1,
                    "rank 2 on node2 never submitted allreduce 'g' (use 1); its last was allreduce"
                        + " 'f' (use 1), done 0.0 s before; ranks 0-1 waited in it"))));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void reportHasTheCauseAndTheFindings(Case known) {
    FlightReport report = FlightReport.of(known.evidence()).orElseThrow();
    assertThat(report.cause()).isEqualTo(known.cause());
    assertThat(report.findings()).containsExactlyElementsOf(known.findings());
  }

  @Test
  void evidenceWithoutLogsOrFailureGivesNoReport() {
    assertThat(FlightReport.of(logs())).isEmpty();
    assertThat(FlightReport.of(logs(rank(0).done("g", 1, 1), rank(1), rank(2)))).isEmpty();
  }

  @Test
  void reportOfManyRanksAndOperationsIsShort() {
    Story[] stories =
        IntStream.range(0, 64)
            .mapToObj(
                rank -> {
                  Story story = Story.of(rank, 64);
                  IntStream.range(0, 64)
                      .filter(i -> i != rank)
                      .forEach(i -> story.waited("g" + i, 1, rank, i));
                  return story.failed(100, "Aborted", "late ".repeat(1000));
                })
            .toArray(Story[]::new);
    List<String> lines = FlightReport.of(logs(stories)).orElseThrow().lines();
    assertThat(lines).hasSize(11).allSatisfy(line -> assertThat(line).hasSizeLessThan(600));
    assertThat(lines.getLast()).isEqualTo("  and 56 findings more");
  }

  @Test
  void unreadableLogIsReported() {
    var evidence =
        new JobLogs(
            logs(
                    rank(0).waited("g", 1, 1).failed(9, "Aborted", "late"),
                    rank(1).waited("g", 1, 1).failed(9, "Aborted", "late"))
                .logs(),
            Map.of(),
            Map.of(2, "rank-2.flight: line 3: \u001b[2J"));
    assertThat(FlightReport.of(evidence).orElseThrow().lines())
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains("rank 2 on node2 left no file that can be read")
                    .contains("line 3: ?[2J"));
  }

  @Test
  void laterEpochIsReportedAlone() {
    FlightLog old = rank(0).waited("old", 1, 1).failed(9, "PeerLost", "rank 2 is lost").log();
    FlightLog.Circle next =
        new FlightLog.Circle(
            77, 1, 1, List.of(0, 1), FlightLog.CircleState.FAILED, 20_000_000_000L);
    var failure = new FlightLog.Failure(20_000_000_000L, 77, "Aborted", -1, "", "late again");
    var log =
        new FlightLog(
            old.self(),
            old.counts(),
            Stream.concat(old.failures().stream(), Stream.of(failure)).toList(),
            Stream.concat(old.communicators().stream(), Stream.of(next)).toList(),
            old.peers(),
            old.events(),
            old.operations());
    FlightReport report =
        FlightReport.of(new JobLogs(Map.of(0, log), Map.of(), Map.of())).orElseThrow();
    assertThat(report.cause())
        .isEqualTo(
            "the communicator of ranks 0-1 in epoch 1 failed 20.0 s into the job; first on rank 0:"
                + " late again");
    assertThat(report.findings())
        .extracting(FlightFinding::words)
        .containsExactly(
            "rank 1 on node1 left no file; rank 0 heard of it last 19.1 s before the failure");
  }
}
