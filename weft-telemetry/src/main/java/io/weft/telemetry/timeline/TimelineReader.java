// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.text.Printable;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A reader of a timeline file, event by event in the order of their recording. It keeps at most a
/// frame and the names in memory. A file that is truncated or damaged is read up to the damage,
/// which `cutOff` describes. A file with impossible content is refused with an `IOException`. One
/// thread.
public final class TimelineReader {

  private final DataInputStream in;
  private final TimelineHeader header;
  private final List<ClockSample> clocks;
  private final List<String> threads;
  private final List<String> names = new ArrayList<>();
  private @Nullable DataInputStream frame;
  private int left;
  private long count;
  private boolean ended;
  private @Nullable String cutOff;

  private record Frame(byte type, byte[] payload) {

    DataInputStream in() {
      return new DataInputStream(new ByteArrayInputStream(payload));
    }
  }

  /// Thrown if the content contradicts the format, apart from truncation.
  private static final class Wrong extends IOException {

    private static final long serialVersionUID = 1L;

    Wrong(String message) {
      super(message);
    }
  }

  private TimelineReader(InputStream stream) throws IOException {
    in = new DataInputStream(stream);
    byte[] magic = in.readNBytes(TimelineFormat.MAGIC.length);
    if (!Arrays.equals(magic, TimelineFormat.MAGIC)) {
      throw new Wrong("not a timeline of Weft");
    }
    int version = in.readInt();
    if (version != TimelineFormat.VERSION) {
      throw new Wrong(
          "a timeline of version " + version + "; this Weft reads " + TimelineFormat.VERSION);
    }
    header = readHeader(expect(TimelineFormat.HEADER));
    clocks = readClocks(expect(TimelineFormat.CLOCKS));
    threads =
        readTexts(
            expect(TimelineFormat.THREADS),
            ThreadTable.MOST,
            TimelineFormat.MOST_THREAD_CHARACTERS);
    Frame next = read();
    while (next != null && next.type() == TimelineFormat.NAMES) {
      names.addAll(readTexts(next, TimelineFormat.MOST_NAMES, TimelineFormat.MOST_NAME_CHARACTERS));
      if (names.size() > NameTable.MOST) {
        throw new Wrong("more than " + NameTable.MOST + " names");
      }
      next = read();
    }
    if (next != null) {
      enter(next);
    }
  }

  /// Opens a timeline and reads the frames before the events. The stream should be buffered; the
  /// caller must close it. Throws `IOException` if it is not a timeline, or is truncated before its
  /// events begin.
  public static TimelineReader open(InputStream stream) throws IOException {
    try {
      return new TimelineReader(stream);
    } catch (EOFException cut) {
      throw new IOException("it is cut off before its first event", cut);
    }
  }

  /// Returns the header. This and all other texts of the file are printable.
  public TimelineHeader header() {
    return header;
  }

  /// Returns the comparisons with rank 0's clock; may be empty.
  public List<ClockSample> clocks() {
    return clocks;
  }

  /// Returns the names of the threads, by index.
  public List<String> threads() {
    return threads;
  }

  /// Returns the damage at the end in words; empty = none. Known after `next` has returned null.
  public Optional<String> cutOff() {
    return Optional.ofNullable(cutOff);
  }

  /// Returns the number of events that were read.
  public long count() {
    return count;
  }

  /// Returns the next event; null after the last one. Throws `IOException` if the content is
  /// impossible or the file cannot be read.
  public @Nullable TimelineEvent next() throws IOException {
    while (left == 0) {
      if (ended || cutOff != null) {
        return null;
      }
      Frame next = read();
      if (next != null) {
        enter(next);
      }
    }
    DataInputStream events = frame;
    if (events == null) {
      throw new IllegalStateException("no frame of events");
    }
    left--;
    count++;
    return event(
        events.readLong(),
        events.readLong(),
        events.readLong(),
        events.readLong(),
        events.readLong());
  }

  private TimelineEvent event(long head, long nanos, long operation, long value, long detail)
      throws IOException {
    EventKind kind = EventKind.of(EventRing.kind(head));
    if (kind == null) {
      throw new Wrong("event " + count + " has no kind");
    }
    SpanCategory category = SpanCategory.of(EventRing.category(head));
    if ((kind == EventKind.SPAN) != (category != null)) {
      throw new Wrong("event " + count + " has a wrong category");
    }
    int name = EventRing.name(head);
    if (name < 0 || name >= names.size() || EventRing.thread(head) >= threads.size()) {
      throw new Wrong("event " + count + " has a name or thread that is not in the file");
    }
    return new TimelineEvent(
        kind, category, EventRing.thread(head), names.get(name), nanos, operation, value, detail);
  }

  /// Makes a frame of events the current one, or checks the end frame.
  private void enter(Frame next) throws IOException {
    if (next.type() == TimelineFormat.END) {
      if (next.payload().length != Long.BYTES || next.in().readLong() != count) {
        throw new Wrong("its end does not count " + count + " events");
      }
      ended = true;
      return;
    }
    if (next.type() != TimelineFormat.EVENTS) {
      throw new Wrong("a frame of type " + next.type() + " among the events");
    }
    frame = next.in();
    int events = next.payload().length < Short.BYTES ? 0 : frame.readUnsignedShort();
    if (events == 0
        || events > TimelineFormat.MOST_EVENTS
        || next.payload().length != Short.BYTES + events * EventRing.FIELDS * Long.BYTES) {
      throw new Wrong("a frame of events of " + next.payload().length + " bytes");
    }
    if (count + events > Timeline.MOST) {
      throw new Wrong("more than " + Timeline.MOST + " events");
    }
    left = events;
  }

  private Frame expect(byte type) throws IOException {
    Frame next = read();
    if (next == null) {
      throw new EOFException(cutOff);
    }
    if (next.type() != type) {
      throw new Wrong("a frame of type " + next.type() + " in place of " + type);
    }
    return next;
  }

  /// Reads a frame. Returns null if the file is truncated or damaged, and sets `cutOff`.
  private @Nullable Frame read() throws IOException {
    try {
      byte type = in.readByte();
      int length = in.readInt();
      if (length < 0 || length > TimelineFormat.MOST_FRAME_BYTES) {
        cutOff = "it is damaged after " + count + " events: a frame of " + length + " bytes";
        return null;
      }
      byte[] payload = in.readNBytes(length);
      if (payload.length < length || in.readInt() != TimelineFormat.checksum(type, payload)) {
        cutOff =
            payload.length < length
                ? "it is cut off after " + count + " of " + header(count) + " events"
                : "it is damaged after " + count + " events: a wrong checksum";
        return null;
      }
      return new Frame(type, payload);
    } catch (EOFException cut) {
      cutOff = "it is cut off after " + count + " of " + header(count) + " events";
      return null;
    }
  }

  /// Returns the number of events in the header; `known` before the header is read.
  @SuppressWarnings("NullAway") // a final field that the constructor has not set yet
  private long header(long known) {
    return header == null ? known : header.kept();
  }

  private static TimelineHeader readHeader(Frame frame) throws IOException {
    DataInputStream in = frame.in();
    try {
      String job = readText(in, TimelineFormat.MOST_NAME_CHARACTERS);
      int rank = in.readInt();
      int size = in.readInt();
      if (rank < 0 || size > TimelineFormat.MOST_RANKS || rank >= size) {
        throw new Wrong("rank " + rank + " of " + size);
      }
      String host = readText(in, TimelineFormat.MOST_NAME_CHARACTERS);
      long recorded = in.readLong();
      long kept = in.readLong();
      if (kept < 0 || kept > recorded || kept > Timeline.MOST) {
        throw new Wrong(kept + " events of " + recorded);
      }
      long first = in.readLong();
      var header = new TimelineHeader(job, rank, size, host, recorded, kept, first, in.readLong());
      requireEnd(in);
      return header;
    } catch (EOFException tooShort) {
      throw new Wrong("a header of " + frame.payload().length + " bytes");
    }
  }

  private static List<ClockSample> readClocks(Frame frame) throws IOException {
    DataInputStream in = frame.in();
    int count = frame.payload().length < Short.BYTES ? -1 : in.readUnsignedShort();
    if (count < 0
        || count > TimelineFormat.MOST_CLOCKS
        || frame.payload().length != Short.BYTES + count * 3 * Long.BYTES) {
      throw new Wrong(count + " samples of clocks in " + frame.payload().length + " bytes");
    }
    List<ClockSample> clocks = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      clocks.add(new ClockSample(in.readLong(), in.readLong(), in.readLong()));
    }
    return List.copyOf(clocks);
  }

  private static List<String> readTexts(Frame frame, int most, int characters) throws IOException {
    DataInputStream in = frame.in();
    try {
      int count = in.readUnsignedShort();
      if (count > most) {
        throw new Wrong(count + " names in a frame");
      }
      List<String> texts = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        texts.add(readText(in, characters));
      }
      requireEnd(in);
      return List.copyOf(texts);
    } catch (EOFException tooShort) {
      throw new Wrong("a frame of names that is too short");
    }
  }

  private static String readText(DataInputStream in, int characters) throws IOException {
    String text = in.readUTF();
    if (text.length() > characters) {
      throw new Wrong("a name of " + text.length() + " characters");
    }
    return Printable.of(text);
  }

  private static void requireEnd(DataInputStream in) throws IOException {
    if (in.available() > 0) {
      throw new Wrong(in.available() + " bytes too many in a frame");
    }
  }
}
