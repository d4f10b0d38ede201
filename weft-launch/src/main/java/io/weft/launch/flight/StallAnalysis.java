// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.launch.flight.FlightFinding.FindingKind;
import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// The findings of stalled operations on the ranks with a log.
final class StallAnalysis {

  /// A time longer than the pauses of an idle progress thread.
  private static final long STILL_NANOS = 3_000_000_000L;

  /// The maximum number of ranks in a finding with their last operation.
  private static final int MOST_STORIES = 3;

  private final Map<Integer, RankSummary> stories;
  private final List<StalledOperation> disputes;
  private final boolean interrupted;
  private final List<FlightFinding> findings = new ArrayList<>();

  /// @param interrupted true if another rank's failure stopped the ranks, so that missing
  ///   submissions are random
  StallAnalysis(
      Map<Integer, RankSummary> stories, List<StalledOperation> disputes, boolean interrupted) {
    this.stories = stories;
    this.disputes = disputes;
    this.interrupted = interrupted;
  }

  List<FlightFinding> findings() {
    disputes.forEach(this::disagreement);
    if (!interrupted) {
      missing();
      crossed();
      disputes.stream()
          .filter(d -> d.missing().isEmpty() && findings.isEmpty())
          .findFirst()
          .ifPresent(this::waited);
    }
    stories.values().forEach(this::stoodStill);
    return findings;
  }

  private void disagreement(StalledOperation dispute) {
    Map<String, List<Integer>> said = new TreeMap<>();
    dispute
        .waited()
        .forEach((rank, f) -> said.computeIfAbsent(f.words(), w -> new ArrayList<>()).add(rank));
    if (said.size() > 1) {
      String each =
          said.entrySet().stream()
              .map(
                  e ->
                      FlightWords.ranks(e.getValue())
                          + " submitted "
                          + FlightWords.printable(e.getKey()))
              .collect(Collectors.joining(", "));
      add(
          FindingKind.DISAGREED,
          List.copyOf(dispute.waited().keySet()),
          dispute,
          "ranks disagree on '"
              + FlightWords.printable(dispute.operation().name())
              + "' (use "
              + dispute.operation().use()
              + "): "
              + each);
    }
  }

  /// Adds findings on missing submissions. Operations with the same waiting and missing ranks are
  /// one finding.
  private void missing() {
    Map<String, List<StalledOperation>> alike =
        disputes.stream()
            .filter(d -> !d.missing().isEmpty())
            .collect(
                Collectors.groupingBy(
                    d -> d.missing() + " " + d.waited().keySet(),
                    LinkedHashMap::new,
                    Collectors.toList()));
    for (List<StalledOperation> same : alike.values()) {
      StalledOperation first = same.getFirst();
      List<Integer> plain = new ArrayList<>();
      for (int rank : first.missing()) {
        Optional<Flight> earlier = earlierUse(rank, first);
        if (earlier.isPresent()) {
          behind(rank, first, earlier.get());
        } else {
          plain.add(rank);
        }
      }
      if (!plain.isEmpty()) {
        neverSubmitted(plain, first, same.size() - 1);
      }
    }
  }

  private void neverSubmitted(List<Integer> ranks, StalledOperation dispute, int more) {
    String who = ranks.size() == 1 ? who(ranks.getFirst()) : FlightWords.ranks(ranks);
    String others = more == 0 ? "" : " and " + more + " others";
    String waited = "; " + FlightWords.ranks(dispute.waited().keySet()) + " waited in it";
    String did =
        ranks.stream()
            .limit(MOST_STORIES)
            .map(rank -> (ranks.size() == 1 ? "; " : "; " + who(rank) + ": ") + last(rank, dispute))
            .collect(Collectors.joining());
    add(
        FindingKind.NEVER_SUBMITTED,
        ranks,
        dispute,
        who + " never submitted " + FlightWords.use(dispute.operation()) + others + did + waited);
  }

  /// Returns what a rank did instead of submitting the operation.
  private String last(int rank, StalledOperation dispute) {
    RankSummary story = story(rank);
    Flight operation = dispute.operation();
    for (Flight own : story.log().operations()) {
      boolean same =
          own.communicator() == operation.communicator() && own.name().equals(operation.name());
      if (same && own.state() == State.SUBMITTED) {
        return "its user has, but its progress thread had not taken it";
      }
      if (same && own.use() == operation.use() && own.stage() == 0) {
        return "it did "
            + FlightWords.seconds(own.times().submittedNanos() - story.failedNanos())
            + " after the failure";
      }
    }
    boolean unsure = story.log().counts().forgotten() > 0 && !dispute.admitted(rank);
    return story.doing()
        + (unsure
            ? " (its file reaches back " + story.log().operations().size() + " operations)"
            : "");
  }

  /// Returns an earlier use of the same name in which the rank waited.
  private Optional<Flight> earlierUse(int rank, StalledOperation dispute) {
    Flight operation = dispute.operation();
    return story(rank).waiting().stream()
        .filter(own -> own.communicator() == operation.communicator())
        .filter(own -> own.name().equals(operation.name()) && own.use() < operation.use())
        .findFirst();
  }

  private void behind(int rank, StalledOperation dispute, Flight earlier) {
    Flight operation = dispute.operation();
    int uses = operation.use() - earlier.use();
    add(
        FindingKind.BEHIND,
        List.of(rank),
        dispute,
        who(rank)
            + " is "
            + uses
            + (uses == 1 ? " step" : " steps")
            + " behind: it waited in "
            + FlightWords.use(earlier)
            + ", "
            + FlightWords.ranks(dispute.waited().keySet())
            + " in use "
            + operation.use());
  }

  /// Adds a finding on two operations that each were awaited by a rank that had not submitted the
  /// other.
  private void crossed() {
    for (int i = 0; i < disputes.size(); i++) {
      for (int j = i + 1; j < disputes.size(); j++) {
        StalledOperation a = disputes.get(i);
        StalledOperation b = disputes.get(j);
        Optional<Integer> inA = waitsHere(a, b);
        Optional<Integer> inB = waitsHere(b, a);
        if (inA.isPresent() && inB.isPresent()) {
          add(
              FindingKind.CROSSED,
              List.of(inA.get(), inB.get()),
              a,
              "ranks wait crosswise: rank "
                  + inA.get()
                  + " in "
                  + FlightWords.use(a.operation())
                  + ", rank "
                  + inB.get()
                  + " in "
                  + FlightWords.use(b.operation())
                  + "; submit both before waiting for one, or in the same order on all ranks");
          return;
        }
      }
    }
  }

  private static Optional<Integer> waitsHere(StalledOperation here, StalledOperation there) {
    return here.waited().keySet().stream().filter(there.missing()::contains).findFirst();
  }

  private void waited(StalledOperation dispute) {
    String each =
        dispute.waited().entrySet().stream()
            .filter(e -> !e.getValue().awaited().isEmpty())
            .limit(2L * MOST_STORIES)
            .map(e -> "rank " + e.getKey() + " for " + FlightWords.ranks(e.getValue().awaited()))
            .collect(Collectors.joining(", "));
    String finished =
        dispute.finished().isEmpty()
            ? ""
            : "; " + FlightWords.ranks(dispute.finished()) + " had finished it";
    Optional<Integer> least = leastHeard(dispute);
    String quiet =
        least.map(rank -> "; the one not heard of for longest is " + who(rank)).orElse("");
    add(
        FindingKind.WAITED,
        least.map(List::of).orElseGet(() -> List.copyOf(dispute.waited().keySet())),
        dispute,
        "all had submitted "
            + FlightWords.use(dispute.operation())
            + (each.isEmpty() ? "" : " and waited: " + each)
            + finished
            + quiet);
  }

  /// Returns the awaited rank whose latest sign of life is oldest.
  private Optional<Integer> leastHeard(StalledOperation dispute) {
    Map<Integer, Long> silence = new TreeMap<>();
    for (RankSummary story : stories.values()) {
      for (FlightLog.Peer peer : story.log().peers()) {
        boolean awaited =
            dispute.waited().values().stream().anyMatch(f -> f.awaited().contains(peer.rank()));
        if (awaited && peer.heardNanos() != FlightLog.NEVER) {
          silence.merge(peer.rank(), story.failedNanos() - peer.heardNanos(), Math::min);
        }
      }
    }
    return silence.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
  }

  private void stoodStill(RankSummary story) {
    if (story.stillNanos() > STILL_NANOS) {
      int queued = story.queued().size();
      int rank = story.log().self().rank();
      findings.add(
          new FlightFinding(
              FindingKind.STOOD_STILL,
              List.of(rank),
              "",
              0,
              who(rank)
                  + ": its progress thread had stood still for "
                  + FlightWords.seconds(story.stillNanos())
                  + (queued == 0 ? "" : ", with " + queued + " operations not taken")));
    }
  }

  private void add(FindingKind kind, List<Integer> ranks, StalledOperation dispute, String words) {
    Flight operation = dispute.operation();
    findings.add(
        new FlightFinding(kind, ranks, FlightWords.operation(operation), operation.use(), words));
  }

  private RankSummary story(int rank) {
    return Objects.requireNonNull(stories.get(rank));
  }

  private String who(int rank) {
    return "rank " + rank + " on " + FlightWords.printable(story(rank).log().self().host());
  }
}
