// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightLog.Circle;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.Failure;
import io.weft.telemetry.flight.FlightLog.Flight;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// The analysis of a job's failure: the failed communicators of the latest epoch, their stalled
/// operations, and the part of each rank.
final class FailureAnalysis {

  private static final String NO_FAILURE =
      "no rank had noticed a failure; operations were under way when they ended";

  private record Had(int rank, Failure failure) {}

  private final JobLogs evidence;
  private final Map<Long, Circle> circles = new HashMap<>();
  private final Set<Long> failed;
  private final Map<Integer, RankSummary> stories = new TreeMap<>();

  FailureAnalysis(JobLogs evidence) {
    this.evidence = evidence;
    for (FlightLog log : evidence.logs().values()) {
      log.communicators().forEach(circle -> circles.putIfAbsent(circle.key(), circle));
    }
    this.failed = failedCommunicators();
    evidence.logs().forEach((rank, log) -> stories.put(rank, new RankSummary(log, failed)));
  }

  Optional<FlightReport> report() {
    List<StalledOperation> disputes = disputes();
    Optional<Had> first = firstFailure();
    if (first.isEmpty() && disputes.isEmpty()) {
      return Optional.empty();
    }
    var findings =
        new ArrayList<>(new DepartedRanks(evidence, stories, disputes, members()).findings());
    // When a rank is lost, the others are interrupted at different places, which is not a finding.
    boolean interrupted =
        !findings.isEmpty() && first.map(h -> h.failure().type().equals("PeerLost")).orElse(true);
    findings.addAll(new StallAnalysis(stories, disputes, interrupted).findings());
    findings.sort(Comparator.comparing(FlightFinding::kind));
    List<Integer> logs = List.copyOf(evidence.logs().keySet());
    return Optional.of(
        new FlightReport(
            evidence.size(), logs, first.map(this::cause).orElse(NO_FAILURE), findings));
  }

  private String cause(Had had) {
    Failure failure = had.failure();
    Circle circle = circles.get(failure.communicator());
    String where =
        circle == null
            ? "a communicator"
            : "the communicator of "
                + FlightWords.ranks(circle.ranks())
                + (circle.epoch() == 0 ? "" : " in epoch " + circle.epoch());
    String what = failure.operation().isEmpty() ? where : "an operation of " + where;
    return what
        + " failed "
        + FlightWords.seconds(failure.nanos())
        + " into the job; first on rank "
        + had.rank()
        + ": "
        + FlightWords.printable(failure.words());
  }

  /// Returns the first failure. Failures that a rank noticed itself precede those reported by
  /// another rank.
  private Optional<Had> firstFailure() {
    return evidence.logs().values().stream()
        .flatMap(log -> log.failures().stream().map(f -> new Had(log.self().rank(), f)))
        .filter(had -> failed.contains(had.failure().communicator()))
        .min(
            Comparator.comparing((Had had) -> had.failure().toldBy() >= 0)
                .thenComparing(had -> had.failure().nanos())
                .thenComparing(Had::rank));
  }

  /// Returns the failed communicators of the latest epoch; if none failed, all communicators.
  private Set<Long> failedCommunicators() {
    Set<Long> keys =
        evidence.logs().values().stream()
            .flatMap(log -> log.failures().stream().map(Failure::communicator))
            .collect(Collectors.toSet());
    circles.values().stream()
        .filter(circle -> circle.state() == CircleState.FAILED)
        .forEach(circle -> keys.add(circle.key()));
    if (keys.isEmpty()) {
      return Set.copyOf(circles.keySet());
    }
    long latest = keys.stream().mapToLong(this::epoch).max().orElse(0);
    return keys.stream().filter(key -> epoch(key) == latest).collect(Collectors.toSet());
  }

  private SortedSet<Integer> members() {
    var members = new TreeSet<Integer>();
    failed.stream()
        .map(circles::get)
        .filter(Objects::nonNull)
        .forEach(circle -> members.addAll(circle.ranks()));
    return members;
  }

  private long epoch(long key) {
    Circle circle = circles.get(key);
    return circle == null ? 0 : circle.epoch();
  }

  /// Returns the stalled operations in the order of their submission.
  private List<StalledOperation> disputes() {
    var keys = new LinkedHashMap<StalledOperation.OperationKey, List<Integer>>();
    for (RankSummary story : stories.values()) {
      for (Flight flight : story.waiting()) {
        Circle circle = circles.get(flight.communicator());
        if (circle != null) {
          keys.put(StalledOperation.OperationKey.of(flight), circle.ranks());
        }
      }
    }
    return keys.entrySet().stream()
        .map(entry -> StalledOperation.of(entry.getKey(), entry.getValue(), evidence.logs()))
        .sorted(Comparator.comparingLong(StalledOperation::submittedNanos))
        .toList();
  }
}
