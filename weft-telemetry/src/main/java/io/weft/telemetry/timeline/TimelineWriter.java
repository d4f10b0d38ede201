// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/// The writer of a timeline file. Events that are recorded during the writing are not included.
final class TimelineWriter {

  private final DataOutputStream out;

  private TimelineWriter(OutputStream out) {
    this.out = new DataOutputStream(out);
  }

  @FunctionalInterface
  private interface Payload {
    void writeTo(DataOutputStream out) throws IOException;
  }

  record Owner(String job, int rank, int size, String host) {}

  /// Writes the timeline; `out` should be buffered, and stays open.
  static void write(Timeline timeline, Owner owner, List<ClockSample> clocks, OutputStream out)
      throws IOException {
    EventRing ring = timeline.ring();
    long[] events = ring.read();
    long recorded = ring.recorded();
    var writer = new TimelineWriter(out);
    writer.out.write(TimelineFormat.MAGIC);
    writer.out.writeInt(TimelineFormat.VERSION);
    writer.header(owner, events, recorded);
    List<ClockSample> told = clocks.subList(0, Math.min(clocks.size(), TimelineFormat.MOST_CLOCKS));
    writer.clocks(told);
    writer.threads(timeline.threads().names()); // read after the events that refer to them
    writer.names(timeline.names().names());
    writer.events(events);
    writer.frame(TimelineFormat.END, to -> to.writeLong(events.length / EventRing.FIELDS));
    writer.out.flush();
  }

  private void header(Owner owner, long[] events, long recorded) throws IOException {
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (int at = 0; at < events.length; at += EventRing.FIELDS) {
      first = Math.min(first, events[at + 1]);
      boolean span = EventRing.kind(events[at]) == EventKind.SPAN.code();
      last = Math.max(last, span ? events[at + 3] : events[at + 1]);
    }
    long from = events.length == 0 ? 0 : first;
    long to = events.length == 0 ? 0 : last;
    frame(
        TimelineFormat.HEADER,
        out -> {
          out.writeUTF(text(owner.job()));
          out.writeInt(owner.rank());
          out.writeInt(owner.size());
          out.writeUTF(text(owner.host()));
          out.writeLong(recorded);
          out.writeLong(events.length / EventRing.FIELDS);
          out.writeLong(from);
          out.writeLong(to);
        });
  }

  private void clocks(List<ClockSample> clocks) throws IOException {
    frame(
        TimelineFormat.CLOCKS,
        to -> {
          to.writeShort(clocks.size());
          for (ClockSample clock : clocks) {
            to.writeLong(clock.nanos());
            to.writeLong(clock.offsetNanos());
            to.writeLong(clock.uncertaintyNanos());
          }
        });
  }

  private void threads(List<String> threads) throws IOException {
    frame(
        TimelineFormat.THREADS,
        to -> {
          to.writeShort(threads.size());
          for (String thread : threads) {
            to.writeUTF(TimelineFormat.shortened(thread, TimelineFormat.MOST_THREAD_CHARACTERS));
          }
        });
  }

  private void names(List<String> names) throws IOException {
    for (int first = 0; first < names.size(); first += TimelineFormat.MOST_NAMES) {
      List<String> some =
          names.subList(first, Math.min(names.size(), first + TimelineFormat.MOST_NAMES));
      frame(
          TimelineFormat.NAMES,
          to -> {
            to.writeShort(some.size());
            for (String name : some) {
              to.writeUTF(text(name));
            }
          });
    }
  }

  private void events(long[] events) throws IOException {
    int most = TimelineFormat.MOST_EVENTS * EventRing.FIELDS;
    for (int from = 0; from < events.length; from += most) {
      int first = from;
      int end = Math.min(events.length, from + most);
      frame(
          TimelineFormat.EVENTS,
          to -> {
            to.writeShort((end - first) / EventRing.FIELDS);
            for (int at = first; at < end; at++) {
              to.writeLong(events[at]);
            }
          });
    }
  }

  private void frame(byte type, Payload payload) throws IOException {
    var buffer = new ByteArrayOutputStream();
    payload.writeTo(new DataOutputStream(buffer));
    byte[] bytes = buffer.toByteArray();
    out.writeByte(type);
    out.writeInt(bytes.length);
    out.write(bytes);
    out.writeInt(TimelineFormat.checksum(type, bytes));
  }

  private static String text(String text) {
    return TimelineFormat.shortened(text, TimelineFormat.MOST_NAME_CHARACTERS);
  }
}
