// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The report on a job's use of time, from its timelines. Shares are fractions of the time of all
/// steps of all ranks, from 0 to 1.
///
/// @param ranks number of ranks with a timeline
/// @param steps highest number of steps of a rank; 1 if no steps were recorded
/// @param stepSeconds time in steps, averaged over the ranks that have finished a step
/// @param shares the use of the time, as fields of this object
/// @param slowestRank the rank that was waited for longest; null = no rank waited
/// @param verdict conclusion in words
/// @param byRank use of time of each rank
/// @param problems missing parts of the timelines
public record TimelineReport(
    int ranks,
    long steps,
    double stepSeconds,
    @JsonUnwrapped JobShares shares,
    @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable Integer slowestRank,
    String verdict,
    List<OfRank> byRank,
    List<String> problems) {

  /// The share below which waiting is random.
  private static final double MUCH_WAITING = 0.1;

  /// The share from which hiding communication is worthwhile.
  private static final double MUCH_COMMUNICATION = 0.25;

  /// The use of time in steps.
  ///
  /// @param computeShare time that is neither exposed nor waiting; includes hidden communication
  /// @param exposedShare time communicating without computation
  /// @param waitingShare time in which a rank that had submitted an operation waited for one that
  ///   had not
  public record Shares(double computeShare, double exposedShare, double waitingShare) {

    private static Shares of(double all, double exposed, double waiting) {
      return new Shares(
          all == 0 ? 0 : 1 - (exposed + waiting) / all, part(exposed, all), part(waiting, all));
    }
  }

  /// The use of time of all ranks.
  ///
  /// @param steps the use of time in steps, as fields of this object
  /// @param negotiationShare part of the exposed share in which nothing was on the wire and the
  ///   ranks had not agreed on a tensor. This and the next two are 0 if no `DataParallel` recorded
  ///   its work
  /// @param queueShare part of the exposed share in which nothing was on the wire and a ready
  ///   tensor had not been started
  /// @param copyShare part of the exposed share in which nothing was on the wire and tensors were
  ///   copied into or out of fusion buffers
  public record JobShares(
      @JsonUnwrapped Shares steps, double negotiationShare, double queueShare, double copyShare) {}

  /// The use of time of one rank.
  ///
  /// @param shares the use of the time, as fields of this object
  /// @param waitedSeconds waiting time by the rank that was waited for
  /// @param clockMicros maximum error of its times
  public record OfRank(
      int rank,
      String host,
      long steps,
      double stepSeconds,
      @JsonUnwrapped Shares shares,
      Map<Integer, Double> waitedSeconds,
      double clockMicros) {}

  /// Analyses the timelines. Throws `IOException` if a file is no longer readable.
  public static TimelineReport of(JobTimelines job) throws IOException {
    List<RankTime> times = new TimeAnalysis(job).ranks();
    List<OfRank> byRank = new ArrayList<>();
    Map<Integer, Long> waitedFor = new TreeMap<>();
    long steps = 0;
    double all = 0;
    double exposed = 0;
    double waiting = 0;
    double negotiation = 0;
    double queue = 0;
    double copy = 0;
    for (int i = 0; i < times.size(); i++) {
      RankTime time = times.get(i);
      byRank.add(of(job.tracks().get(i), time));
      steps = Math.max(steps, time.steps());
      all += time.stepNanos();
      exposed += time.exposedNanos();
      waiting += time.waitingNanos();
      negotiation += time.negotiationNanos();
      queue += time.queueNanos();
      copy += time.copyNanos();
      time.waitedFor().forEach((rank, nanos) -> waitedFor.merge(rank, nanos, Long::sum));
    }
    Shares shares = Shares.of(all, exposed, waiting);
    long counted = times.stream().filter(time -> time.stepNanos() > 0).count();
    Integer slowest =
        waitedFor.entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .orElse(null);
    double blamed =
        slowest == null ? 0 : part((double) waitedFor.getOrDefault(slowest, 0L), waiting);
    return new TimelineReport(
        times.size(),
        steps,
        part(all, 1e9 * counted),
        new JobShares(shares, part(negotiation, all), part(queue, all), part(copy, all)),
        slowest,
        job.tracks().size() == 1 && job.tracks().getFirst().header().size() > 1
            ? "only one rank's timeline is there: the ranks for which it waited are unknown"
            : verdict(times.size(), shares, slowest, blamed),
        byRank,
        job.problems());
  }

  /// @param blamed fraction of the waiting that was for the slowest rank
  private static String verdict(
      int ranks, Shares shares, @Nullable Integer slowest, double blamed) {
    double compute = shares.computeShare;
    double exposed = shares.exposedShare;
    double waiting = shares.waitingShare;
    if (compute + exposed + waiting == 0) {
      return "no time was recorded";
    }
    if (ranks == 1) {
      return "one rank, which waits for no other";
    }
    if (waiting >= MUCH_WAITING && slowest != null && blamed >= 0.5) {
      return String.format(
          Locale.ROOT,
          "rank %d is the slowest: ranks waited for others %.0f %% of the time, %.0f %% of that for"
              + " rank %d",
          slowest,
          100 * waiting,
          100 * blamed,
          slowest);
    }
    if (waiting >= MUCH_WAITING) {
      return String.format(
          Locale.ROOT,
          "ranks waited for each other %.0f %% of the time, not mainly for one of them",
          100 * waiting);
    }
    if (exposed >= MUCH_COMMUNICATION) {
      return String.format(
          Locale.ROOT,
          "communication is not hidden: it took %.0f %% of the time without computation",
          100 * exposed);
    }
    return String.format(
        Locale.ROOT, "computing took %.0f %% of the time; little is lost", 100 * compute);
  }

  private static OfRank of(JobTimelines.Track track, RankTime time) {
    double all = time.stepNanos();
    Map<Integer, Double> seconds = new TreeMap<>();
    time.waitedFor().forEach((rank, nanos) -> seconds.put(rank, nanos / 1e9));
    return new OfRank(
        track.rank(),
        track.header().host(),
        time.steps(),
        all / 1e9,
        Shares.of(all, (double) time.exposedNanos(), (double) time.waitingNanos()),
        seconds,
        track.uncertaintyNanos() / 1e3);
  }

  private static double part(double of, double all) {
    return all == 0 ? 0 : of / all;
  }

  /// Returns the report in words, the verdict last.
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%d rank%s, %d step%s, %.2f s in steps: %.0f %% computing, %.0f %% exposed"
                + " communication, %.0f %% waiting for other ranks",
            ranks,
            ranks == 1 ? "" : "s",
            steps,
            steps == 1 ? "" : "s",
            stepSeconds,
            100 * shares.steps.computeShare,
            100 * shares.steps.exposedShare,
            100 * shares.steps.waitingShare));
    if (shares.negotiationShare + shares.queueShare + shares.copyShare > 0) {
      lines.add(
          String.format(
              Locale.ROOT,
              "  of the exposed communication: %.0f %% negotiation, %.0f %% queue, %.0f %% copies"
                  + " into and out of fusion buffers, the rest on the wire",
              100 * part(shares.negotiationShare, shares.steps.exposedShare),
              100 * part(shares.queueShare, shares.steps.exposedShare),
              100 * part(shares.copyShare, shares.steps.exposedShare)));
    }
    for (OfRank each : byRank) {
      if (each.stepSeconds() == 0) {
        lines.add("  rank " + each.rank() + " on " + each.host() + ": no step was finished");
        continue;
      }
      String most =
          each.waitedSeconds().entrySet().stream()
              .max(Map.Entry.comparingByValue())
              .map(
                  rank ->
                      String.format(
                          Locale.ROOT,
                          ", most for rank %d (%.2f s)",
                          rank.getKey(),
                          rank.getValue()))
              .orElse("");
      lines.add(
          String.format(
              Locale.ROOT,
              "  rank %d on %s: %.0f %% computing, %.0f %% exposed communication, %.0f %%"
                  + " waiting%s",
              each.rank(),
              each.host(),
              100 * each.shares().computeShare(),
              100 * each.shares().exposedShare(),
              100 * each.shares().waitingShare(),
              most));
    }
    lines.add("verdict: " + verdict);
    return lines;
  }
}
