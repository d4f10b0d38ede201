// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.launch.timeline.Intervals.Interval;
import io.weft.telemetry.timeline.LayerOperations;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.TimelineEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The analysis of a job's timelines. It reads them twice: first for the last submission of each
/// operation, then for the use of each rank's time. It keeps operations, not events, in memory.
final class TimeAnalysis {

  /// The maximum number of operations that are compared between ranks.
  private static final int MOST_OPERATIONS = 1 << 22;

  private final JobTimelines job;
  private final Map<TracedOperation.Use, Last> last = new HashMap<>();

  TimeAnalysis(JobTimelines job) {
    this.job = job;
  }

  private record Last(long nanos, int rank) {}

  List<RankTime> ranks() throws IOException {
    for (JobTimelines.Track track : job.tracks()) {
      var open = new OpenOperations();
      track.forEach(
          event -> {
            TracedOperation operation = event.isCollective() ? open.take(event) : null;
            if (operation != null) {
              submitted(track, operation);
            }
          });
      open.left(track.header().lastNanos()).forEach(left -> submitted(track, left));
    }
    List<RankTime> ranks = new ArrayList<>();
    for (JobTimelines.Track track : job.tracks()) {
      var reading = new RankReading(track);
      track.forEach(reading::take);
      ranks.add(reading.end());
    }
    return ranks;
  }

  private void submitted(JobTimelines.Track track, TracedOperation operation) {
    long nanos = track.clock().rankZeroNanos(operation.submittedNanos());
    TracedOperation.Use use = operation.use();
    if (use.number() >= 0 && (last.size() < MOST_OPERATIONS || last.containsKey(use))) {
      last.merge(use, new Last(nanos, track.rank()), (a, b) -> a.nanos() >= b.nanos() ? a : b);
    }
  }

  /// The events of one rank, divided into steps. A step's event follows the events within it,
  /// because it is recorded at its end.
  private final class RankReading {

    private final JobTimelines.Track track;
    private final RankTime time;
    private final OpenOperations open = new OpenOperations();
    private List<RankTime.Sent> sent = new ArrayList<>();
    private List<Interval> computed = new ArrayList<>();
    private List<Interval> negotiated = new ArrayList<>();
    private List<Interval> queued = new ArrayList<>();
    private List<Interval> copied = new ArrayList<>();
    private boolean computes;

    RankReading(JobTimelines.Track track) {
      this.track = track;
      this.time = new RankTime(track.rank());
    }

    void take(TimelineEvent event) {
      if (event.category() != null) {
        span(event.category(), event);
      } else if (event.isCollective()) {
        TracedOperation operation = open.take(event);
        if (operation != null) {
          sent.add(sent(operation));
        }
      }
    }

    /// Ends the reading. If no rank recorded steps, the whole timeline counts as one step. If only
    /// other ranks recorded steps, this rank ended in its first step, and only its operations are
    /// known.
    RankTime end() {
      if (!job.hasSteps()) {
        open.left(track.header().lastNanos()).forEach(left -> sent.add(sent(left)));
        long from = zero(track.header().firstNanos());
        long to = zero(track.header().lastNanos());
        time.step(from, to, sent, computed(computed), layer(from, to));
      }
      return time;
    }

    private void span(SpanCategory category, TimelineEvent event) {
      switch (category) {
        case STEP -> step(zero(event.nanos()), zero(event.value()));
        case COMPUTE, INPUT, CHECKPOINT, EVALUATION -> {
          computes |= category == SpanCategory.COMPUTE;
          computed.add(interval(event));
        }
        case NEGOTIATE -> negotiated.add(interval(event));
        case QUEUE -> queued.add(interval(event));
        case FUSE, COPY_OUT -> copied.add(interval(event));
        case SEND, REDUCE, WAIT -> {}
      }
    }

    private Interval interval(TimelineEvent span) {
      return new Interval(zero(span.nanos()), zero(span.value()));
    }

    private RankTime.Layer layer(long from, long to) {
      return new RankTime.Layer(
          within(negotiated, from, to), within(queued, from, to), within(copied, from, to));
    }

    private void step(long from, long to) {
      List<RankTime.Sent> later = new ArrayList<>();
      List<RankTime.Sent> within = new ArrayList<>();
      for (RankTime.Sent operation : sent) {
        if (operation.submittedNanos() >= to) {
          later.add(operation);
        } else if (operation.endedNanos() > from) {
          within.add(operation);
        }
      }
      List<Interval> here = within(computed, from, to);
      time.step(from, to, within, computed(here), layer(from, to));
      sent = later;
      computed = new ArrayList<>();
      negotiated = new ArrayList<>();
      queued = new ArrayList<>();
      copied = new ArrayList<>();
    }

    private static List<Interval> within(List<Interval> spans, long from, long to) {
      return spans.stream().filter(span -> span.to() > from && span.from() < to).toList();
    }

    /// Returns the computation. It is empty if the program does not record its computation.
    private List<Interval> computed(List<Interval> spans) {
      return computes ? spans : List.of();
    }

    private RankTime.Sent sent(TracedOperation operation) {
      @Nullable Last latest = last.get(operation.use());
      long submitted = zero(operation.submittedNanos());
      long ended = zero(operation.endedNanos());
      boolean negotiates = LayerOperations.isNegotiation(operation.use().name());
      return latest == null
          ? new RankTime.Sent(submitted, ended, submitted, track.rank(), negotiates)
          : new RankTime.Sent(submitted, ended, latest.nanos(), latest.rank(), negotiates);
    }

    private long zero(long nanos) {
      return track.clock().rankZeroNanos(nanos);
    }
  }
}
