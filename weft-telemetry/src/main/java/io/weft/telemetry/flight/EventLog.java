// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.comm.CommException;
import io.weft.telemetry.flight.FlightLog.Circle;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.Event;
import io.weft.telemetry.flight.FlightLog.EventKind;
import io.weft.telemetry.flight.FlightLog.Failure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The failures, communicators and events of a rank, each in a bounded list. Of failures and
/// events, the first and the latest are kept. Times are the job's. Any thread; written rarely.
final class EventLog {

  private static final int FAILURES = 16;
  private static final int CIRCLES = 64;
  private static final int EVENTS = 64;
  private static final int MOST_WORDS = 2000;

  private final ArrayList<Failure> failures = new ArrayList<>();
  private final LinkedHashMap<Long, Circle> circles = new LinkedHashMap<>();
  private final ArrayList<Event> events = new ArrayList<>();
  private @Nullable CommException latest;
  private @Nullable CommException told;
  private int toldBy;
  private final Map<Integer, Integer> witnesses = new HashMap<>();

  synchronized void opened(long key, long epoch, int instance, List<Integer> ranks) {
    if (circles.size() == CIRCLES) {
      forgetOne();
    }
    circles.put(key, new Circle(key, epoch, instance, ranks, CircleState.OPEN, FlightLog.NEVER));
  }

  /// Notes the end of a communicator. Returns whether it was open until now.
  synchronized boolean ended(long key, CircleState how, long nanos) {
    Circle before = circles.get(key);
    if (before == null || before.state() != CircleState.OPEN) {
      return false;
    }
    circles.put(
        key, new Circle(key, before.epoch(), before.instance(), before.ranks(), how, nanos));
    return true;
  }

  synchronized boolean closed(long key) {
    Circle circle = circles.get(key);
    return circle != null && circle.state() == CircleState.CLOSED;
  }

  synchronized void told(int fromRank, CommException cause, long nanos) {
    told = cause;
    toldBy = fromRank;
    happened(nanos, EventKind.ABORTED, fromRank, words(cause));
  }

  /// Notes the witness of a loss, or -1 if this rank noticed it.
  synchronized void lost(int rank, int witness) {
    witnesses.putIfAbsent(rank, witness);
  }

  synchronized void happened(long nanos, EventKind kind, int rank, String words) {
    if (events.size() == EVENTS) {
      events.remove(EVENTS / 2);
    }
    events.add(new Event(nanos, kind, rank, shortened(words)));
  }

  /// Notes a failure. Returns false if it is the same failure as the previous one, which can affect
  /// many operations.
  synchronized boolean failed(
      long nanos, long communicator, CommException cause, String operation) {
    if (Objects.equals(cause, latest)) {
      return false;
    }
    latest = cause;
    if (failures.size() == FAILURES) {
      failures.remove(1);
    }
    String type = cause.getClass().getSimpleName();
    failures.add(new Failure(nanos, communicator, type, teller(cause), operation, words(cause)));
    return true;
  }

  synchronized List<Failure> failures() {
    return List.copyOf(failures);
  }

  synchronized List<Circle> circles() {
    return List.copyOf(circles.values());
  }

  synchronized List<Event> events() {
    return List.copyOf(events);
  }

  /// Forgets one communicator, preferably a closed one.
  private void forgetOne() {
    long victim =
        circles.values().stream()
            .filter(circle -> circle.state() == CircleState.CLOSED)
            .findFirst()
            .or(() -> circles.values().stream().findFirst())
            .map(Circle::key)
            .orElseThrow();
    circles.remove(victim);
  }

  private int teller(CommException cause) {
    return switch (cause) {
      case CommException.PeerLost lost -> witnesses.getOrDefault(lost.rank(), -1);
      case CommException.Excluded excluded -> excluded.witness();
      default -> Objects.equals(cause, told) ? toldBy : -1;
    };
  }

  private static String words(CommException cause) {
    return shortened(Objects.requireNonNullElse(cause.getMessage(), cause.toString()));
  }

  private static String shortened(String words) {
    return words.length() <= MOST_WORDS ? words : words.substring(0, MOST_WORDS) + "…";
  }
}
