// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.config.Settings;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.transport.TransportException;
import io.weft.verbs.Parties.Heard;
import io.weft.verbs.Parties.Party;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks four ranks that send messages, write and read each other's memory, close regions in use
/// and write to closed ones, against a model of the contents of all memory and the order of all
/// events. The ranks use different models of buffers and threads.
@Tag("rdma")
@Timeout(400)
class RandomOperationsTest {

  private static final int RANKS = 4;
  private static final long LITTLE = 2 << 20;
  private static final int PLACES = 4;
  private static final int MOST_OUT = 48;
  private static final int MOST_CLOSED = 40;

  private final long seed = Long.getLong("weft.test.seed", System.nanoTime());
  private final int operations =
      Integer.getInteger(
          "weft.test.operations", Boolean.getBoolean("weft.test.long") ? 10_000 : 1500);
  private final Random random = new Random(seed);
  private final List<List<Place>> places = new ArrayList<>();
  private final List<Place> closed = new ArrayList<>();
  private final List<Flight> flights = new ArrayList<>();
  private final Map<Integer, ArrayDeque<Due>> due = new TreeMap<>();
  private int number;

  /// The next event that the peer must receive; a write is certain only if its region is still open
  /// then.
  private record Due(@Nullable MemorySegment message, @Nullable Flight write) {}

  /// A read or write that has not completed.
  private static final class Flight {
    private final int number;
    private final boolean isRead;
    private final Place own;
    private final int ownAt;
    private final Place remote;
    private final int remoteAt;
    private final int bytes;
    private final VerbsOutcome outcome = new VerbsOutcome();
    private Place.@Nullable Span ownSpan;
    private Place.@Nullable Span remoteSpan;
    private boolean isHeard;

    Flight(
        int number, boolean isRead, Place own, int ownAt, Place remote, int remoteAt, int bytes) {
      this.number = number;
      this.isRead = isRead;
      this.own = own;
      this.ownAt = ownAt;
      this.remote = remote;
      this.remoteAt = remoteAt;
      this.bytes = bytes;
    }

    /// Returns whether its region has been open from the beginning to now.
    boolean isCertain() {
      return remote.isOpen;
    }

    /// Takes the bytes on both sides; returns false if conflicting operations use them.
    boolean take() {
      ownSpan = own.take(ownAt, bytes, isRead, true);
      if (ownSpan == null) {
        return false;
      }
      remoteSpan = remote.take(remoteAt, bytes, !isRead, false);
      if (remoteSpan == null) {
        own.busy.remove(ownSpan);
        return false;
      }
      return true;
    }

    void giveOwn() {
      own.busy.remove(ownSpan);
    }

    void giveRemote() {
      remote.busy.remove(remoteSpan);
    }

    @Override
    public String toString() {
      return (isRead ? "read " : "write ") + number + " of " + bytes + " bytes";
    }
  }

  /// Little memory stays registered. The first three ranks use a different model each.
  private static List<VerbsSettings> settings() {
    return IntStream.of(1, 2, 3, 3)
        .mapToObj(
            model ->
                VerbsSettings.of(
                    Settings.ofThisProcess()
                        .with(VerbsConfig.POOL_BYTES, LITTLE)
                        .with(VerbsConfig.CACHE_BYTES, LITTLE)
                        .with(VerbsConfig.MODEL, model)))
        .toList();
  }

  @Test
  void memoryAndEventsMatchTheModel() {
    System.getLogger("weft.verbs")
        .log(System.Logger.Level.INFO, "weft.test.seed={0,number,#}", seed);
    try (Parties all = new Parties(settings())) {
      for (Party party : all.all()) {
        List<Place> own = new ArrayList<>();
        for (int i = 0; i < PLACES; i++) {
          own.add(new Place(party, random));
        }
        places.add(own);
      }
      for (number = 0; number < operations; number++) {
        step(all);
        for (int i = random.nextInt(3); i > 0 || flights.size() > MOST_OUT; i--) {
          poll(all);
        }
      }
      all.until(() -> poll(all) && flights.isEmpty(), "all are over");
      all.until(() -> poll(all) && due.values().stream().allMatch(this::isHeard), "all is heard");
      places.forEach(own -> own.forEach(place -> place.check("at the end " + this)));
      assertThat(counted(all, "oneSidedWrittenBytes")).isPositive();
      assertThat(counted(all, "oneSidedReadBytes")).isPositive();
      places.forEach(own -> own.forEach(Place::close));
    }
  }

  private static long counted(Parties all, String name) {
    return all.all().stream().mapToLong(party -> party.transport.counters().get(name)).sum();
  }

  private boolean isHeard(ArrayDeque<Due> some) {
    return some.stream().allMatch(one -> one.write != null && !one.write.isCertain());
  }

  private void step(Parties all) {
    Party from = all.get(random.nextInt(RANKS));
    Party to = all.get((from.node + 1 + random.nextInt(RANKS - 1)) % RANKS);
    int kind = random.nextInt(100);
    if (kind < 35) {
      send(all, from, to);
    } else if (kind < 90) {
      move(all, from, to, pick(to), kind < 65);
    } else if (kind < 95) {
      renew(all, from);
    } else {
      moveStale(all, from, to, kind < 98);
    }
  }

  private Place pick(Party party) {
    return places.get(party.node).get(random.nextInt(PLACES));
  }

  private void send(Parties all, Party from, Party to) {
    byte[] bytes = new byte[random.nextInt(1 << random.nextInt(14))];
    random.nextBytes(bytes);
    MemorySegment message = MemorySegment.ofArray(bytes);
    post(all, () -> from.to(to.node).trySend(message));
    dueOf(to, from).add(new Due(message, null));
  }

  private void move(Parties all, Party from, Party to, Place remote, boolean isWrite) {
    int bytes = random.nextInt(1 << random.nextInt(18));
    Flight flight =
        new Flight(
            number,
            !isWrite,
            pick(from),
            random.nextInt(Place.BYTES - bytes),
            remote,
            random.nextInt(Place.BYTES - bytes),
            bytes);
    all.until(() -> flight.take() || !poll(all), "the bytes are free");
    launch(all, from, to, flight);
  }

  /// Uses a closed region: a write changes nothing and its peer is not notified; a read fails or
  /// returns the contents of the region.
  private void moveStale(Parties all, Party from, Party to, boolean isWrite) {
    List<Place> gone = closed.stream().filter(place -> place.owner.node == to.node).toList();
    if (!gone.isEmpty()) {
      move(all, from, to, gone.get(random.nextInt(gone.size())), isWrite);
    }
  }

  private void launch(Parties all, Party from, Party to, Flight flight) {
    RemoteSlice remote =
        new RemoteSlice(flight.remote.region.export(), flight.remoteAt, flight.bytes);
    post(
        all,
        () ->
            flight.isRead
                ? from.to(to.node)
                    .tryRead(
                        flight.own.region.slice(flight.ownAt, flight.bytes), remote, flight.outcome)
                : from.to(to.node)
                    .tryWrite(
                        flight.own.region.slice(flight.ownAt, flight.bytes),
                        remote,
                        flight.number,
                        flight.outcome));
    flights.add(flight);
    if (!flight.isRead) {
      dueOf(to, from).add(new Due(null, flight));
    }
  }

  /// Closes a region, whatever operations of peers use it, and replaces it by a new one.
  private void renew(Parties all, Party party) {
    List<Place> own = places.get(party.node);
    int index = random.nextInt(PLACES);
    Place old = own.get(index);
    if (old.isPosted()) {
      return;
    }
    // Events that have arrived belong to the time before the close.
    hear(all);
    finish();
    // The bytes not in use have their expected contents; the result of writes by peers is undefined
    // from now on.
    if (old.busy.isEmpty()) {
      old.check("before its end " + this);
    }
    closed.add(old);
    if (closed.size() > MOST_CLOSED) {
      closed.removeFirst();
    }
    old.close();
    own.set(index, new Place(party, random));
  }

  private void post(Parties all, Supplier<PostResult> work) {
    all.until(() -> work.get() == PostResult.POSTED || !poll(all), "there is room");
  }

  private boolean poll(Parties all) {
    all.poll();
    hear(all);
    finish();
    return true;
  }

  private ArrayDeque<Due> dueOf(Party at, Party from) {
    return due.computeIfAbsent(at.node * RANKS + from.node, _ -> new ArrayDeque<>());
  }

  private void hear(Parties all) {
    for (Party at : all.all()) {
      for (Party from : all.all()) {
        ArrayDeque<Heard> heard = at.heardOf(from.node);
        while (!heard.isEmpty()) {
          hear(heard.remove(), dueOf(at, from));
        }
      }
    }
  }

  private void hear(Heard heard, ArrayDeque<Due> expected) {
    Due next = expected.poll();
    while (next != null && next.write != null && !next.write.isCertain()) {
      next = expected.poll();
    }
    assertThat(next).as("%s was not expected, %s", heard, this).isNotNull();
    Flight write = next.write;
    switch (heard) {
      case Heard.Message(MemorySegment bytes) -> {
        assertThat(write).as("a message came, %s", this).isNull();
        assertThat(bytes.mismatch(next.message)).as("message, %s", this).isEqualTo(-1);
      }
      case Heard.Notice(int immediate) -> {
        assertThat(write).as("a notice came, %s", this).isNotNull();
        assertThat(immediate).as("%s, %s", write, this).isEqualTo(write.number);
        write.isHeard = true;
        write.remote.landed(
            write.remoteAt, write.own, write.ownAt, write.bytes, write + ", " + this);
        write.giveRemote();
      }
    }
  }

  /// Removes completed operations. The source bytes of a write stay taken until the peer is
  /// notified of it.
  private void finish() {
    flights.removeIf(
        flight -> {
          if (!flight.outcome.isDone()
              || (!flight.isRead && flight.isCertain() && !flight.isHeard)) {
            return false;
          }
          flight.giveOwn();
          TransportException failure = flight.outcome.failure();
          if (flight.isCertain() || flight.isHeard) {
            assertThat(failure).as("%s, %s", flight, this).isNull();
          } else if (failure != null) {
            assertThat(failure).isInstanceOf(TransportException.Refused.class);
          }
          if (flight.isRead) {
            read(flight, failure);
          } else if (!flight.isHeard) {
            flight.giveRemote();
          }
          return true;
        });
  }

  private void read(Flight flight, @Nullable TransportException failure) {
    if (failure == null) {
      flight.own.landed(
          flight.ownAt, flight.remote, flight.remoteAt, flight.bytes, flight + ", " + this);
    } else {
      flight.own.restore(flight.ownAt, flight.bytes);
    }
    flight.giveRemote();
  }

  @Override
  public String toString() {
    return "operation " + number + ", seed " + seed;
  }
}
