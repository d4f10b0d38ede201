// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.telemetry.flight.FlightLog.Circle;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.Counts;
import io.weft.telemetry.flight.FlightLog.Event;
import io.weft.telemetry.flight.FlightLog.EventKind;
import io.weft.telemetry.flight.FlightLog.Failure;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.Peer;
import io.weft.telemetry.flight.FlightLog.Self;
import io.weft.telemetry.flight.FlightLog.State;
import io.weft.telemetry.flight.FlightLog.Times;
import java.util.ArrayList;
import java.util.List;

/// A strict parser of the output of `LogText`. Sections and fields must be in order, lines and
/// lists within the limits of the format, and the end marker present.
final class LogReader {

  private static final int MOST_CHARACTERS = 1 << 22;
  private static final int MOST_LINE = 1 << 16;
  private static final int MOST_ITEMS = 1 << 14;
  private static final int MOST_RANKS = 1 << 16;

  /// Maximum length of all lists of ranks in one log together.
  private static final int MOST_LISTED = 1 << 20;

  private final String text;
  private final List<Failure> failures = new ArrayList<>();
  private final List<Circle> circles = new ArrayList<>();
  private final List<Peer> peers = new ArrayList<>();
  private final List<Event> events = new ArrayList<>();
  private final List<Flight> flights = new ArrayList<>();
  private int at;
  private int line;
  private int size;
  private int listed;
  private LogFields fields = new LogFields("");

  LogReader(String text) {
    this.text = text;
  }

  FlightLog read() {
    if (text.length() > MOST_CHARACTERS) {
      throw new IllegalArgumentException(
          "a flight log has at most " + MOST_CHARACTERS + " characters, not " + text.length());
    }
    try {
      if (!nextLine().equals(LogText.FIRST_LINE)) {
        throw new IllegalArgumentException("not '" + LogText.FIRST_LINE + "'");
      }
      return log();
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException("line " + line + ": " + wrong.getMessage(), wrong);
    }
  }

  private FlightLog log() {
    next();
    fields.word("job");
    String job = fields.text();
    next();
    Self self = self(job);
    next();
    fields.word("written");
    long written = fields.time();
    fields.word("turned");
    long turned = fields.time();
    next();
    fields.word("begun");
    long begun = fields.number(Long.MAX_VALUE);
    fields.word("forgotten");
    var counts = new Counts(written, turned, begun, fields.number(Long.MAX_VALUE));
    next();
    while (fields.is("failure")) {
      add(failures, failure());
    }
    while (fields.is("communicator")) {
      add(circles, circle());
    }
    while (fields.is("peer")) {
      add(peers, new Peer(rank(), fields.text(), fields.time()));
    }
    while (fields.is("event")) {
      add(events, event());
    }
    while (fields.is("operation")) {
      add(flights, flight());
    }
    fields.word("end");
    if (fields.number(MOST_ITEMS) != flights.size()) {
      throw new IllegalArgumentException("the number of operations differs from the end line");
    }
    fields.end();
    if (at != text.length()) {
      throw new IllegalArgumentException("something follows the end");
    }
    return new FlightLog(self, counts, failures, circles, peers, events, flights);
  }

  private Self self(String job) {
    fields.word("rank");
    long rank = fields.number(MOST_RANKS);
    fields.word("of");
    size = (int) fields.number(MOST_RANKS);
    if (rank >= size) {
      throw new IllegalArgumentException("rank " + rank + " of " + size);
    }
    fields.word("on");
    String host = fields.text();
    fields.word("process");
    return new Self(job, (int) rank, size, host, fields.text());
  }

  private Failure failure() {
    return new Failure(
        fields.time(), fields.key(), fields.text(), rankOrNone(), fields.name(), fields.text());
  }

  private Circle circle() {
    return new Circle(
        fields.key(),
        fields.number(Long.MAX_VALUE),
        (int) fields.number(Integer.MAX_VALUE),
        ranks(),
        fields.one(CircleState.class),
        fields.time());
  }

  private Event event() {
    return new Event(fields.time(), fields.one(EventKind.class), rankOrNone(), fields.text());
  }

  private Flight flight() {
    long number = fields.number(Long.MAX_VALUE);
    long communicator = fields.key();
    State state = fields.one(State.class);
    int stage = (int) fields.number(Integer.MAX_VALUE);
    var times = new Times(fields.time(), fields.time(), fields.time());
    int use = (int) fields.number(Integer.MAX_VALUE);
    long bytes = fields.number(Long.MAX_VALUE);
    List<Integer> awaited = ranks();
    List<Integer> unsubmitted = ranks();
    String name = fields.name();
    return new Flight(
        number,
        communicator,
        name,
        fields.text(),
        use,
        bytes,
        new FlightLog.Progress(state, stage, times),
        new FlightLog.Missing(awaited, unsubmitted));
  }

  private int rank() {
    return (int) fields.number(size - 1L);
  }

  private int rankOrNone() {
    return fields.nothing() ? -1 : rank();
  }

  private List<Integer> ranks() {
    List<Integer> ranks = RankList.read(fields.text(), size, MOST_LISTED - listed);
    listed += ranks.size();
    return ranks;
  }

  private <T> void add(List<T> list, T item) {
    if (list.size() == MOST_ITEMS) {
      throw new IllegalArgumentException("more than " + MOST_ITEMS + " such lines");
    }
    list.add(item);
    next();
  }

  private void next() {
    fields.end();
    String read = nextLine();
    while (read.startsWith("#")) {
      read = nextLine();
    }
    fields = new LogFields(read);
  }

  private String nextLine() {
    line++;
    int end = text.indexOf('\n', at);
    if (end < 0) {
      throw new IllegalArgumentException("the log is cut off");
    }
    if (end - at > MOST_LINE) {
      throw new IllegalArgumentException("a line has at most " + MOST_LINE + " characters");
    }
    String read = text.substring(at, end);
    at = end + 1;
    return read;
  }
}
