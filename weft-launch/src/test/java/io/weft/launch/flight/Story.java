// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import io.weft.telemetry.flight.FlightLog;
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
import java.util.stream.IntStream;

/// A builder of the log of one rank of an invented job. Rank N is on host `nodeN`. Times are tenths
/// of a second.
final class Story {

  static final long WORLD = 0xabcL;
  private static final long TENTH = 100_000_000L;

  private final int rank;
  private final int size;
  private final List<Failure> failures = new ArrayList<>();
  private final List<Circle> circles = new ArrayList<>();
  private final List<Peer> peers = new ArrayList<>();
  private final List<Event> events = new ArrayList<>();
  private final List<Flight> flights = new ArrayList<>();
  private long ended = FlightLog.NEVER;
  private long still;

  private Story(int rank, int size) {
    this.rank = rank;
    this.size = size;
  }

  static Story of(int rank, int size) {
    return new Story(rank, size);
  }

  Story done(String name, int use, long at) {
    return flight(name, "allreduce FLOAT32[2] SUM", use, State.DONE, 1, at, List.of(), List.of());
  }

  Story waited(String name, int use, long at, Integer... awaited) {
    return flight(
        name, "allreduce FLOAT32[2] SUM", use, State.FAILED, 1, at, List.of(awaited), List.of());
  }

  Story waitedAs(String words, String name, int use, long at) {
    return flight(name, words, use, State.FAILED, 1, at, List.of(), List.of());
  }

  Story late(String name, int use, long at) {
    return flight(name, "allreduce FLOAT32[2] SUM", use, State.FAILED, 0, at, List.of(), List.of());
  }

  Story queued(String name, long at) {
    return flight(
        name, "allreduce FLOAT32[2] SUM", 0, State.SUBMITTED, 0, at, List.of(), List.of());
  }

  Story running(String name, int use, long at) {
    return flight(
        name, "allreduce FLOAT32[2] SUM", use, State.RUNNING, 1, at, List.of(), List.of());
  }

  private Story flight(
      String name,
      String words,
      int use,
      State state,
      int stage,
      long at,
      List<Integer> awaited,
      List<Integer> unsubmitted) {
    flights.add(
        new Flight(
            use == 0 ? 0 : flights.size() + 1,
            WORLD,
            name,
            words,
            use,
            8,
            new FlightLog.Progress(
                state,
                stage,
                new Times(
                    at * TENTH, at * TENTH, state == State.DONE ? at * TENTH : FlightLog.NEVER)),
            new FlightLog.Missing(awaited, unsubmitted)));
    return this;
  }

  Story failed(long at, String type, String words) {
    return failed(at, type, -1, words);
  }

  Story told(long at, String type, int by, String words) {
    return failed(at, type, by, words);
  }

  private Story failed(long at, String type, int by, String words) {
    ended = at * TENTH;
    failures.add(new Failure(ended, WORLD, type, by, "", words));
    return this;
  }

  Story heard(int peer, long at) {
    peers.add(new Peer(peer, "node" + peer, at * TENTH));
    return this;
  }

  Story event(EventKind kind, int peer, long at) {
    events.add(new Event(at * TENTH, kind, peer, "it is " + kind));
    return this;
  }

  Story stoodStill(long tenths) {
    still = tenths * TENTH;
    return this;
  }

  FlightLog log() {
    List<Integer> all = IntStream.range(0, size).boxed().toList();
    CircleState state = ended < 0 ? CircleState.OPEN : CircleState.FAILED;
    circles.add(new Circle(WORLD, 0, 1, all, state, ended));
    for (int peer : all) {
      if (peer != rank && peers.stream().noneMatch(p -> p.rank() == peer)) {
        peers.add(new Peer(peer, "node" + peer, ended));
      }
    }
    long written = Math.max(ended, 0) + still;
    return new FlightLog(
        new Self("job", rank, size, "node" + rank, "1@1"),
        new Counts(written, written - still, flights.size(), 0),
        failures,
        circles,
        peers,
        events,
        flights);
  }
}
