// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.sim.clock.EventQueue;
import io.weft.testkit.sim.clock.ScheduledEvent;
import io.weft.testkit.sim.network.Journal.What;
import io.weft.testkit.sim.network.Network.DelayRule;
import io.weft.testkit.sim.network.Network.Wall;
import io.weft.transport.limit.ClampedDuration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// The faults on the paths of a network: walls that hold bytes, delays, and connections that will
/// be cut.
final class NetworkFaults {

  private final Network network;
  private final RandomGenerator random;
  private final List<Wall> walls = new ArrayList<>();
  private final List<DelayRule> delays = new ArrayList<>();
  private final List<Snap> snaps = new ArrayList<>();
  private final List<Credit> credits = new ArrayList<>();
  private final List<SimEndpoint> holding = new ArrayList<>();

  private record Snap(int fromRank, int toRank, double share) {}

  private record Credit(SimEndpoint end, long bytes) {}

  NetworkFaults(Network network, RandomGenerator random) {
    this.network = network;
    this.random = random;
  }

  private EventQueue events() {
    return network.events();
  }

  // --- delays

  void thicken(DelayRule delay) {
    delays.add(delay);
  }

  void clear(DelayRule delay) {
    delays.remove(delay);
  }

  long extraNanos(int fromRank, int toRank) {
    long extra = 0;
    for (int i = 0; i < delays.size(); i++) {
      DelayRule delay = delays.get(i);
      if (delay.from() == fromRank && delay.to() == toRank) {
        extra += delay.nanos();
      }
    }
    return extra;
  }

  // --- walls

  void raise(Wall wall) {
    walls.add(wall);
  }

  private boolean blocks(int fromRank, int toRank) {
    for (int i = 0; i < walls.size(); i++) {
      if (walls.get(i).stands(fromRank, toRank)) {
        return true;
      }
    }
    return false;
  }

  /// Keeps a packet, and returns true, if a wall or packets kept before it block it.
  boolean holds(SimPacket parcel) {
    SimEndpoint from = parcel.from;
    ArrayDeque<SimPacket> held = from.held();
    if (held == null) {
      if (walls.isEmpty() || !blocks(from.transport().node().rank(), Network.rankBehind(from))) {
        return false;
      }
      held = new ArrayDeque<>();
      from.hold(held);
      holding.add(from);
    }
    held.add(parcel);
    return true;
  }

  /// Returns credit to `end`; a wall on its way back delays the credit.
  void free(SimEndpoint end, long bytes) {
    if (!walls.isEmpty() && blocks(Network.rankBehind(end), end.transport().node().rank())) {
      credits.add(new Credit(end, bytes));
    } else {
      end.free(bytes);
    }
  }

  void remove(Wall wall, long mostNanos) {
    walls.remove(wall);
    for (SimEndpoint end : holding) {
      long again = mostNanos == 0 ? 0 : random.nextLong(mostNanos);
      long way = ClampedDuration.nanos(network.between().latency());
      events().at(events().now() + way + again, new Release(end));
    }
    holding.clear();
    List<Credit> due = List.copyOf(credits);
    credits.clear();
    due.forEach(credit -> free(credit.end(), credit.bytes()));
  }

  private final class Release extends ScheduledEvent {
    private final SimEndpoint end;

    Release(SimEndpoint end) {
      this.end = end;
    }

    @Override
    protected void happen() {
      ArrayDeque<SimPacket> parcels = end.held();
      end.hold(null);
      holding.remove(end);
      if (parcels != null) {
        parcels.forEach(network::reached);
      }
    }
  }

  void giveUpHeld() {
    for (SimEndpoint end : List.copyOf(holding)) {
      if (end.isOpen()) {
        end.cut(events().now());
        end.transport().arrive(() -> end.lost("connection timed out"));
        network.send(SimPacket.empty(SimPacket.PacketKind.RESET, end));
      }
    }
  }

  // --- connections to be cut

  void snapNext(int fromRank, int toRank, double share) {
    snaps.add(new Snap(fromRank, toRank, share));
  }

  /// Cuts the connection of this packet, which is now sent, if a cut is due.
  void snap(SimPacket parcel) {
    if (snaps.isEmpty() || !parcel.from.isOpen()) {
      return;
    }
    int fromRank = parcel.from.transport().node().rank();
    int toRank = Network.rankBehind(parcel.from);
    for (Snap snap : snaps) {
      if (snap.fromRank() == fromRank && snap.toRank() == toRank) {
        snaps.remove(snap);
        long within = (long) ((parcel.leftNanos - parcel.startNanos) * snap.share());
        events().at(parcel.startNanos + within, new Cut(parcel.from));
        return;
      }
    }
  }

  private final class Cut extends ScheduledEvent {
    private final SimEndpoint end;

    Cut(SimEndpoint end) {
      this.end = end;
    }

    @Override
    protected void happen() {
      SimEndpoint peer = end.peer();
      if (peer != null && !end.isClosed() && !peer.isClosed()) {
        end.record(What.FAULT, 0);
        end.cut(events().now());
        peer.cut(events().now());
        network.send(SimPacket.empty(SimPacket.PacketKind.RESET, end));
        network.send(SimPacket.empty(SimPacket.PacketKind.RESET, peer));
      }
    }
  }
}
