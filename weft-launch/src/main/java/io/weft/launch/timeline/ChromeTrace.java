// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.telemetry.timeline.EventKind;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.TimelineEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/// Writes the timelines of a job as one trace in the format of Chrome and Perfetto. The trace has a
/// process for each rank. A rank has a thread for each thread that recorded spans, and additional
/// threads for overlapping operations. Times are microseconds by rank 0's clock since the earliest
/// event.
public final class ChromeTrace implements AutoCloseable {

  /// The first thread number of the lanes of operations.
  private static final int FIRST_LANE = 1000;

  /// The first thread number of the lanes of tensors that wait for other ranks or for their start;
  /// above all lanes of operations.
  private static final int FIRST_TENSOR_LANE = 10_000;

  private final JsonGenerator json;
  private long events;

  private ChromeTrace(OutputStream out) {
    json =
        JsonMapper.builder()
            .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
            .build()
            .createGenerator(out);
  }

  /// Writes the trace; returns the number of events except names. `out` should be buffered.
  public static long write(JobTimelines job, OutputStream out) throws IOException {
    try (var trace = new ChromeTrace(out)) {
      trace.all(job);
      return trace.events;
    } catch (JacksonException refused) {
      if (refused.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw new IOException(refused.getMessage(), refused);
    }
  }

  @Override
  public void close() {
    json.close();
  }

  private void all(JobTimelines job) throws IOException {
    json.writeStartObject();
    json.writeStringProperty("displayTimeUnit", "ms");
    json.writeArrayPropertyStart("traceEvents");
    long origin = job.originNanos();
    for (JobTimelines.Track track : job.tracks()) {
      new RankTrack(track, origin).write();
    }
    json.writeEndArray();
    json.writeObjectPropertyStart("otherData");
    for (JobTimelines.Track track : job.tracks()) {
      json.writeStringProperty(
          "clock of rank " + track.rank(),
          String.format(Locale.ROOT, "within %.1f us", track.uncertaintyNanos() / 1e3));
    }
    json.writeEndObject();
    json.writeEndObject();
    json.flush();
  }

  private final class RankTrack {

    private final JobTimelines.Track track;
    private final long origin;
    private final OpenOperations open = new OpenOperations();
    private final List<Long> tensors = new ArrayList<>();
    private int lanes;

    RankTrack(JobTimelines.Track track, long origin) {
      this.track = track;
      this.origin = origin;
    }

    void write() throws IOException {
      name("process_name", 0, "rank " + track.rank() + " on " + track.header().host());
      json.writeStartObject();
      json.writeStringProperty("name", "process_sort_index");
      place("M", 0);
      json.writeObjectPropertyStart("args");
      json.writeNumberProperty("sort_index", track.rank());
      json.writeEndObject();
      json.writeEndObject();
      for (int thread = 0; thread < track.threads().size(); thread++) {
        name("thread_name", thread, track.threads().get(thread));
      }
      track.forEach(this::event);
      open.left(track.header().lastNanos()).forEach(this::operation);
    }

    private void event(TimelineEvent event) {
      SpanCategory category = event.category();
      if (category != null) {
        span(category, event);
        return;
      }
      TracedOperation operation = open.take(event);
      if (operation != null) {
        operation(operation);
      }
    }

    private void span(SpanCategory category, TimelineEvent event) {
      String name =
          switch (category) {
            case STEP -> "step " + event.detail();
            case WAIT ->
                event.detail() < 0
                    ? event.name()
                    : event.name() + ": wait for rank " + event.detail();
            default -> event.name();
          };
      int thread =
          switch (category) {
            case NEGOTIATE, QUEUE -> tensorThread(event.nanos(), event.value());
            default -> event.thread();
          };
      begin(name, category.name(), thread, event.nanos(), event.value());
      json.writeEndObject();
    }

    /// Returns the thread of a tensor's span. Tensors overlap, while spans of one thread are nested
    /// or disjoint. Spans arrive in the order of their ends, so the first lane whose last span has
    /// ended is free.
    private int tensorThread(long begun, long ended) {
      int lane = 0;
      while (lane < tensors.size() && tensors.get(lane) > begun) {
        lane++;
      }
      if (lane == tensors.size()) {
        tensors.add(ended);
        name("thread_name", FIRST_TENSOR_LANE + lane, "tensors " + (lane + 1));
      } else {
        tensors.set(lane, ended);
      }
      return FIRST_TENSOR_LANE + lane;
    }

    private void operation(TracedOperation operation) {
      int thread = FIRST_LANE + operation.lane();
      for (; lanes <= operation.lane(); lanes++) {
        name("thread_name", FIRST_LANE + lanes, "operations " + (lanes + 1));
      }
      begin(
          operation.use().name(),
          "OPERATION",
          thread,
          operation.submittedNanos(),
          operation.endedNanos());
      json.writeObjectPropertyStart("args");
      json.writeNumberProperty("bytes", operation.bytes());
      json.writeNumberProperty("use", operation.use().number() + 1);
      if (operation.lastHeard() >= 0) {
        json.writeNumberProperty("heardLastOfRank", operation.lastHeard());
      }
      EventKind end = operation.end();
      json.writeStringProperty(
          "end", end == null ? "unfinished" : end.name().toLowerCase(Locale.ROOT));
      json.writeEndObject();
      json.writeEndObject();
      for (TracedOperation.Phase phase : operation.phases()) {
        String category = phase.category().name();
        begin(category, category, thread, phase.begunNanos(), phase.endedNanos());
        json.writeEndObject();
      }
    }

    private void begin(String name, String category, int thread, long from, long to) {
      long start = track.clock().rankZeroNanos(from) - origin;
      events++;
      json.writeStartObject();
      json.writeStringProperty("name", name);
      json.writeStringProperty("cat", category);
      place("X", thread);
      json.writeName("ts");
      json.writeRawValue(micros(start));
      json.writeName("dur");
      json.writeRawValue(micros(Math.max(0, track.clock().rankZeroNanos(to) - origin - start)));
    }

    private void name(String kind, int thread, String name) {
      json.writeStartObject();
      json.writeStringProperty("name", kind);
      place("M", thread);
      json.writeObjectPropertyStart("args");
      json.writeStringProperty("name", name);
      json.writeEndObject();
      json.writeEndObject();
    }

    private void place(String phase, int thread) {
      json.writeStringProperty("ph", phase);
      json.writeNumberProperty("pid", track.rank());
      json.writeNumberProperty("tid", thread);
    }
  }

  /// Returns the exact decimal number of microseconds.
  private static String micros(long nanos) {
    long fraction = Math.floorMod(nanos, 1000L);
    long whole = Math.floorDiv(nanos, 1000L);
    if (whole < 0 && fraction > 0) {
      whole++;
      fraction = 1000 - fraction;
      return (whole == 0 ? "-" : "") + whole + "." + padded(fraction);
    }
    return whole + "." + padded(fraction);
  }

  private static String padded(long fraction) {
    return fraction < 10 ? "00" + fraction : fraction < 100 ? "0" + fraction : "" + fraction;
  }
}
