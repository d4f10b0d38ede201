// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.text.Printable;
import java.util.List;
import java.util.Locale;

/// A log as text: lines of tab-separated fields, the first of them the kind of the line, and
/// comments that name the fields. `LogReader` reads it.
final class LogText {

  /// The format's name and version.
  static final String FIRST_LINE = "weft-flight 1";

  private static final long NANOS = 1_000_000_000L;

  private final StringBuilder text = new StringBuilder(1 << 14);

  private LogText() {}

  static String of(FlightLog log) {
    var text = new LogText();
    text.text.append(FIRST_LINE).append('\n');
    text.head(log);
    text.eventLog(log);
    text.operations(log.operations());
    return text.text.toString();
  }

  private void head(FlightLog log) {
    FlightLog.Self self = log.self();
    FlightLog.Counts counts = log.counts();
    comment("Times are seconds since the rank had joined the job; - is never, or none.");
    line("job", self.job());
    line("rank", self.rank(), "of", self.size(), "on", self.host(), "process", self.process());
    line("written", time(counts.writtenNanos()), "turned", time(counts.turnedNanos()));
    line("begun", counts.begun(), "forgotten", counts.forgotten());
  }

  private void eventLog(FlightLog log) {
    comment("failure", "time", "communicator", "type", "told-by", "operation", "words");
    for (FlightLog.Failure f : log.failures()) {
      String teller = f.toldBy() < 0 ? "-" : Integer.toString(f.toldBy());
      line(
          "failure",
          time(f.nanos()),
          key(f.communicator()),
          f.type(),
          teller,
          quoted(f.operation()),
          f.words());
    }
    comment("communicator", "key", "epoch", "instance", "ranks", "state", "ended");
    for (FlightLog.Circle c : log.communicators()) {
      line(
          "communicator",
          key(c.key()),
          c.epoch(),
          c.instance(),
          RankList.write(c.ranks()),
          lower(c.state()),
          time(c.endedNanos()));
    }
    comment("peer", "rank", "host", "heard");
    for (FlightLog.Peer p : log.peers()) {
      line("peer", p.rank(), p.host(), time(p.heardNanos()));
    }
    comment("event", "time", "kind", "rank", "words");
    for (FlightLog.Event e : log.events()) {
      String rank = e.rank() < 0 ? "-" : Integer.toString(e.rank());
      line("event", time(e.nanos()), lower(e.kind()), rank, e.words());
    }
  }

  private void operations(List<FlightLog.Flight> operations) {
    comment(
        "operation",
        "number",
        "communicator",
        "state",
        "stage",
        "submitted",
        "begun",
        "ended",
        "use",
        "bytes",
        "awaited",
        "unsubmitted",
        "name",
        "words");
    for (FlightLog.Flight o : operations) {
      line(
          "operation",
          o.number(),
          key(o.communicator()),
          lower(o.state()),
          o.stage(),
          time(o.times().submittedNanos()),
          time(o.times().begunNanos()),
          time(o.times().endedNanos()),
          o.use(),
          o.bytes(),
          RankList.write(o.awaited()),
          RankList.write(o.unsubmitted()),
          quoted(o.name()),
          o.words());
    }
    line("end", operations.size());
  }

  private void comment(String... fields) {
    text.append("# ").append(String.join(" ", fields)).append('\n');
  }

  private void line(Object... fields) {
    for (int i = 0; i < fields.length; i++) {
      if (i > 0) {
        text.append('\t');
      }
      escape(fields[i].toString(), text);
    }
    text.append('\n');
  }

  /// Adds quotes, so that an empty name is a field too.
  private static String quoted(String name) {
    return "'" + name + "'";
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static String key(long key) {
    return String.format(Locale.ROOT, "%016x", key);
  }

  /// Formats a time, rounded down to microseconds.
  private static String time(long nanos) {
    return nanos < 0
        ? "-"
        : String.format(Locale.ROOT, "%d.%06d", nanos / NANOS, nanos % NANOS / 1000);
  }

  /// Escapes backslashes, control characters and unpaired surrogates.
  private static void escape(String field, StringBuilder into) {
    field
        .codePoints()
        .forEach(
            c -> {
              if (c == '\\') {
                into.append("\\\\");
              } else if (Printable.is(c)) {
                into.appendCodePoint(c);
              } else {
                for (char half : Character.toChars(c)) {
                  into.append(String.format(Locale.ROOT, "\\u%04x", (int) half));
                }
              }
            });
  }
}
