// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.flight.FlightLog.Event;
import io.weft.telemetry.flight.FlightLog.EventKind;
import io.weft.telemetry.flight.FlightLog.Peer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The findings on departed ranks: killed, lost to the others, closed in order, or without a log.
final class DepartedRanks {

  /// The last sign of life of a rank that another rank recorded.
  private record Sign(int witness, long beforeNanos) {}

  private final JobLogs evidence;
  private final Map<Integer, RankSummary> stories;
  private final List<StalledOperation> disputes;
  private final Set<Integer> members;
  private final Map<Integer, Event> went = new TreeMap<>();
  private final Map<Integer, String> hosts = new TreeMap<>();

  /// @param members ranks of the failed communicators, ascending
  DepartedRanks(
      JobLogs evidence,
      Map<Integer, RankSummary> stories,
      List<StalledOperation> disputes,
      SortedSet<Integer> members) {
    this.evidence = evidence;
    this.members = members;
    this.stories = stories;
    this.disputes = disputes;
    for (RankSummary story : stories.values()) {
      // A rank that departed after the failure departed because of it.
      story.log().events().stream()
          .filter(e -> e.kind() == EventKind.LOST || e.kind() == EventKind.LEFT)
          .filter(e -> e.nanos() <= story.failedNanos())
          .forEach(e -> went.putIfAbsent(e.rank(), e));
      FlightLog.Self self = story.log().self();
      hosts.put(self.rank(), self.host());
      story.log().peers().forEach(peer -> hosts.putIfAbsent(peer.rank(), peer.host()));
    }
  }

  List<FlightFinding> findings() {
    var findings = new ArrayList<FlightFinding>();
    for (int rank : members) {
      Event event = went.get(rank);
      boolean lost = event != null && event.kind() == EventKind.LOST;
      if (lost || (event == null && !stories.containsKey(rank))) {
        findings.add(gone(rank, event));
      } else if (event != null && awaited(rank).isPresent()) {
        findings.add(left(rank));
      }
    }
    return findings;
  }

  private FlightFinding gone(int rank, @Nullable Event lost) {
    var words = new StringBuilder(who(rank));
    words.append(stories.containsKey(rank) ? " was lost" : " left no file");
    String ended = evidence.ended().get(rank);
    String unreadable = evidence.unreadable().get(rank);
    if (unreadable != null) {
      words.append(" that can be read (").append(FlightWords.printable(unreadable)).append(')');
    }
    if (ended != null) {
      words.append(": ").append(ended);
    } else if (lost != null) {
      words.append(": ").append(FlightWords.printable(lost.words()));
    }
    sign(rank)
        .ifPresent(
            sign ->
                words
                    .append("; rank ")
                    .append(sign.witness())
                    .append(" heard of it last ")
                    .append(FlightWords.seconds(sign.beforeNanos()))
                    .append(" before the failure"));
    awaited(rank).ifPresent(d -> words.append("; ").append(waitedFor(d)));
    if (stories.containsKey(rank)) {
      words.append("; ").append(story(rank).doing());
    }
    return finding(FlightFinding.FindingKind.GONE, rank, words.toString());
  }

  private FlightFinding left(int rank) {
    String doing = stories.containsKey(rank) ? "; " + story(rank).doing() : "";
    String waited = awaited(rank).map(DepartedRanks::waitedFor).orElse("");
    return finding(
        FlightFinding.FindingKind.LEFT,
        rank,
        who(rank) + " left the job in order; " + waited + doing);
  }

  private FlightFinding finding(FlightFinding.FindingKind kind, int rank, String words) {
    return awaited(rank)
        .map(StalledOperation::operation)
        .map(f -> new FlightFinding(kind, List.of(rank), FlightWords.operation(f), f.use(), words))
        .orElseGet(() -> new FlightFinding(kind, List.of(rank), "", 0, words));
  }

  private static String waitedFor(StalledOperation dispute) {
    return FlightWords.ranks(dispute.waited().keySet())
        + " waited in "
        + FlightWords.use(dispute.operation());
  }

  /// Returns the first operation in which others waited without this rank, or for this rank.
  private Optional<StalledOperation> awaited(int rank) {
    return disputes.stream()
        .filter(d -> !d.waited().containsKey(rank))
        .filter(d -> !stories.containsKey(rank) || d.missing().contains(rank))
        .findFirst()
        .or(
            () ->
                disputes.stream()
                    .filter(
                        d -> d.waited().values().stream().anyMatch(f -> f.awaited().contains(rank)))
                    .findFirst());
  }

  /// Returns the latest sign of life of this rank, relative to the failure of the rank that
  /// recorded it.
  private Optional<Sign> sign(int rank) {
    Sign latest = null;
    for (RankSummary story : stories.values()) {
      for (Peer peer : story.log().peers()) {
        long before = story.failedNanos() - peer.heardNanos();
        if (peer.rank() == rank
            && peer.heardNanos() != FlightLog.NEVER
            && (latest == null || before < latest.beforeNanos())) {
          latest = new Sign(story.log().self().rank(), before);
        }
      }
    }
    return Optional.ofNullable(latest);
  }

  private RankSummary story(int rank) {
    return Objects.requireNonNull(stories.get(rank));
  }

  private String who(int rank) {
    return "rank "
        + rank
        + " on "
        + FlightWords.printable(hosts.getOrDefault(rank, "an unknown host"));
  }
}
