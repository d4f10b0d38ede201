// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.telemetry.timeline.ClockLine;
import io.weft.telemetry.timeline.ClockSample;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.TimelineEvent;
import io.weft.telemetry.timeline.TimelineFile;
import io.weft.telemetry.timeline.TimelineHeader;
import io.weft.telemetry.timeline.TimelineReader;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The timelines of one job in a directory. Each use reads the files again.
///
/// @param tracks readable timelines, by rank
/// @param problems defects and missing parts of timelines, a line each
public record JobTimelines(List<Track> tracks, List<String> problems) {

  /// Copies the lists.
  public JobTimelines {
    tracks = List.copyOf(tracks);
    problems = List.copyOf(problems);
  }

  /// The timeline of one rank.
  ///
  /// @param file its file
  /// @param header its header
  /// @param threads names of threads by index
  /// @param clock converts its times into those of rank 0
  /// @param uncertaintyNanos maximum error of the converted times
  /// @param steps number of steps that the program has finished
  public record Track(
      Path file,
      TimelineHeader header,
      List<String> threads,
      ClockLine clock,
      long uncertaintyNanos,
      long steps) {

    /// Returns the rank that recorded the timeline.
    public int rank() {
      return header.rank();
    }

    /// Returns its earliest time, by rank 0's clock.
    public long firstNanos() {
      return clock.rankZeroNanos(header.firstNanos());
    }

    /// Passes all events to `sink` in the order of their recording.
    void forEach(EventSink sink) throws IOException {
      try (InputStream in = TimelineFile.open(file)) {
        TimelineReader reader = TimelineReader.open(in);
        for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
          sink.take(event);
        }
      } catch (IOException unreadable) {
        throw new IOException(file + ": " + IoErrors.reason(unreadable), unreadable);
      }
    }
  }

  @FunctionalInterface
  interface EventSink {
    void take(TimelineEvent event) throws IOException;
  }

  /// Returns the timelines in a directory. Throws `IOException` if it cannot be listed.
  public static JobTimelines in(Path directory) throws IOException {
    List<Track> tracks = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    for (Map.Entry<Integer, Path> file : TimelineFile.in(directory).entrySet()) {
      String name = file.getValue().getFileName().toString();
      try (InputStream in = TimelineFile.open(file.getValue())) {
        TimelineReader reader = TimelineReader.open(in);
        if (reader.header().rank() != file.getKey()) {
          throw new IOException("it is of rank " + reader.header().rank());
        }
        // Reads the file only to check it and to count steps; its events are read again when
        // needed.
        long steps = 0;
        for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
          steps += event.category() == SpanCategory.STEP ? 1 : 0;
        }
        tracks.add(track(file.getValue(), reader, steps));
        if (reader.count() == 0 && reader.cutOff().isPresent()) {
          throw new IOException(reader.cutOff().get() + "; it has no event and is left out");
        }
        reader.cutOff().ifPresent(cut -> problems.add(name + ": " + cut));
        long lost = reader.header().recorded() - reader.header().kept();
        if (lost > 0) {
          problems.add(
              name
                  + ": its first "
                  + lost
                  + " events were overwritten; keep more with --timeline-events");
        }
      } catch (IOException unreadable) {
        tracks.removeIf(track -> track.file().equals(file.getValue()));
        problems.add(name + ": " + IoErrors.reason(unreadable));
      }
    }
    return ofOneJob(tracks, problems);
  }

  /// Removes timelines of other jobs: a directory may have files of an earlier job with more ranks.
  private static JobTimelines ofOneJob(List<Track> tracks, List<String> problems) {
    if (tracks.isEmpty()) {
      return new JobTimelines(tracks, problems);
    }
    TimelineHeader first = tracks.getFirst().header();
    List<Track> ofJob = new ArrayList<>();
    for (Track track : tracks) {
      if (track.header().job().equals(first.job()) && track.header().size() == first.size()) {
        ofJob.add(track);
      } else {
        problems.add(
            track.file().getFileName()
                + ": it is of job "
                + track.header().job()
                + ", not of "
                + first.job()
                + "; it is left out");
      }
    }
    if (ofJob.size() < first.size()) {
      problems.add(
          "timelines of "
              + ofJob.size()
              + " of "
              + first.size()
              + " ranks; the others are missing");
    }
    if (ofJob.stream().anyMatch(track -> track.steps() > 0)) {
      for (Track track : ofJob) {
        if (track.steps() == 0) {
          problems.add(
              track.file().getFileName()
                  + ": its rank has finished no step; its time counts in no share");
        }
      }
    }
    return new JobTimelines(ofJob, problems);
  }

  boolean hasSteps() {
    return tracks.stream().anyMatch(track -> track.steps() > 0);
  }

  private static Track track(Path file, TimelineReader reader, long steps) {
    long uncertainty =
        reader.clocks().stream().mapToLong(ClockSample::uncertaintyNanos).max().orElse(0);
    return new Track(
        file,
        reader.header(),
        reader.threads(),
        ClockLine.through(reader.clocks()),
        uncertainty,
        steps);
  }

  /// Returns the earliest time of all timelines, by rank 0's clock.
  long originNanos() {
    return tracks.stream().mapToLong(Track::firstNanos).min().orElse(0);
  }
}
