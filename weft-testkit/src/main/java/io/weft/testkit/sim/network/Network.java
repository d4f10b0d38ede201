// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.testkit.sim.clock.EventQueue;
import io.weft.testkit.sim.clock.ScheduledEvent;
import io.weft.testkit.sim.network.Journal.What;
import io.weft.transport.Capabilities;
import io.weft.transport.TransportException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.transport.ring.MessageBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Hosts with one network card each, processes on them, and the connections between these. A
/// connection has TCP's guarantees: bytes arrive in order, and bytes that a wall stops wait. If a
/// process dies, its host closes or resets its connections; a host that dies sends nothing.
public final class Network {

  /// The default limit on payload that travels inside a message.
  public static final int EAGER_BYTES = 8 << 10;

  private static final long PAGE_BYTES = 4096;
  private static final long SLAB_BYTES = 1 << 20;

  private final EventQueue events;
  private final RandomGenerator random;
  private final Setup setup;
  private final Journal journal;
  private final NetworkPort[] out;
  private final NetworkPort[] in;
  private final NetworkFaults networkFaults;
  private final Map<String, SimTransport> listening = new HashMap<>();
  private final List<SimTransport> transports = new ArrayList<>();
  private final MessageBuffer messages;
  private MemorySegment slab = MemorySegment.NULL;
  private long slabUsed;
  private int names;

  /// The configuration of a network.
  ///
  /// @param hosts their number
  /// @param between the link between two hosts
  /// @param within the link within a host
  /// @param limits of each end of a connection
  /// @param tamper deliberate violations of the protocol
  public record Setup(int hosts, SimLink between, SimLink within, Limits limits, Tamper tamper) {}

  /// A wall between ranks: bytes from one group to the other wait until the wall is removed.
  ///
  /// @param from sending ranks
  /// @param to receiving ranks
  public record Wall(BitSet from, BitSet to) {
    /// Throws `NullPointerException` if a component is null.
    public Wall {
      Objects.requireNonNull(from, "from");
      Objects.requireNonNull(to, "to");
    }

    boolean stands(int fromRank, int toRank) {
      return from.get(fromRank) && to.get(toRank);
    }
  }

  /// An additional latency from one rank to another.
  ///
  /// @param from rank
  /// @param to rank
  /// @param nanos more than usual
  public record DelayRule(int from, int to, long nanos) {}

  /// Creates a network without faults.
  ///
  /// @param random for jitter, and for how connections end
  public Network(EventQueue events, RandomGenerator random, Setup setup, Journal journal) {
    this.events = events;
    this.random = random;
    this.setup = setup;
    this.journal = journal;
    this.messages = new MessageBuffer(setup.limits().messageBytes());
    this.networkFaults = new NetworkFaults(this, random);
    this.out = new NetworkPort[setup.hosts()];
    this.in = new NetworkPort[setup.hosts()];
    for (int host = 0; host < setup.hosts(); host++) {
      out[host] = new NetworkPort();
      in[host] = new NetworkPort();
    }
  }

  EventQueue events() {
    return events;
  }

  Journal journal() {
    return journal;
  }

  Limits limits() {
    return setup.limits();
  }

  SimLink between() {
    return setup.between();
  }

  Capabilities capabilities() {
    return new Capabilities(
        "simulated network",
        true,
        setup.limits().messageBytes(),
        EAGER_BYTES,
        Long.MAX_VALUE,
        setup.limits().operations(),
        Math.round(setup.between().bytesPerSecond() * Byte.SIZE),
        false);
  }

  Tamper tamper() {
    return setup.tamper();
  }

  /// Returns random numbers for one process, derived from the network's.
  RandomGenerator chance() {
    return new SplittableRandom(random.nextLong());
  }

  MessageBuffer messages() {
    return messages;
  }

  /// Returns zeroed memory for one process, which the garbage collector frees because a dead
  /// process frees nothing.
  MemorySegment memory(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a region of " + bytes + " bytes");
    }
    if (bytes > SLAB_BYTES / 4) {
      return SparseMemory.allocate(bytes);
    }
    long pages = (bytes + PAGE_BYTES - 1) & -PAGE_BYTES;
    if (slab.byteSize() - slabUsed < pages) {
      slab = Arena.ofAuto().allocate(SLAB_BYTES, PAGE_BYTES);
      slabUsed = 0;
    }
    slabUsed += pages;
    return slab.asSlice(slabUsed - pages, bytes);
  }

  // --- listeners

  String listen(String bind, SimTransport transport) {
    String location = bind.indexOf(':') >= 0 ? bind : bind + ":" + ++names;
    if (listening.putIfAbsent(location, transport) != null) {
      throw new TransportException.DeviceLost(
          "cannot listen on " + location + ": address already in use; choose another number", null);
    }
    transports.add(transport);
    return location;
  }

  void silence(String location, SimTransport transport) {
    listening.remove(location, transport);
    transports.remove(transport);
  }

  /// Returns the address of processes on this host, without the number.
  public static String hostName(int host) {
    return "h" + host;
  }

  private int hostOf(String location) {
    int colon = location.indexOf(':');
    try {
      int host = Integer.parseInt(location.substring(1, colon));
      return host >= 0 && host < setup.hosts() ? host : 0;
    } catch (IndexOutOfBoundsException | NumberFormatException unknown) {
      return 0;
    }
  }

  // --- the path of a packet

  /// Sends a packet through the port of its host.
  void send(SimPacket parcel) {
    if (parcel.kind == SimPacket.PacketKind.MESSAGE && setup.tamper() != Tamper.NONE) {
      sendTampered(parcel);
    } else {
      depart(parcel);
    }
  }

  private void sendTampered(SimPacket parcel) {
    SimEndpoint from = parcel.from;
    int rank = from.transport().node().rank();
    from.free(parcel.wireBytes());
    for (byte[] message : setup.tamper().message(rank, rankBehind(from), parcel.data)) {
      SimPacket instead = new SimPacket(SimPacket.PacketKind.MESSAGE, from, message);
      from.take(instead.wireBytes());
      depart(instead);
    }
  }

  private void depart(SimPacket parcel) {
    SimEndpoint from = parcel.from;
    SimNode node = from.transport().node();
    record(parcel, node);
    int host = hostBehind(from);
    boolean within = host == node.host();
    SimLink link = within ? setup.within() : setup.between();
    NetworkPort port = within ? from.transport().localOut() : out[node.host()];
    long busy = link.occupancyNanos(parcel.wireBytes());
    parcel.link = link;
    parcel.startNanos = port.take(events.now(), busy);
    parcel.leftNanos = parcel.startNanos + busy;
    from.countSent(parcel.wireBytes());
    long extra = networkFaults.extraNanos(node.rank(), rankBehind(from));
    long head = parcel.startNanos + link.delayNanos(random) + extra;
    events.at(from.inOrder(head), parcel);
    networkFaults.snap(parcel);
  }

  boolean tellsTwice(SimEndpoint from) {
    return setup.tamper().tellsTwice(from.transport().node().rank(), rankBehind(from));
  }

  private void record(SimPacket parcel, SimNode node) {
    What what =
        switch (parcel.kind) {
          case MESSAGE -> What.SEND;
          case WRITE -> What.WRITE;
          case READ -> What.READ;
          case HANDSHAKE -> What.HANDSHAKE;
          case READ_REPLY, READ_REFUSED, END, RESET -> null;
        };
    if (what != null) {
      byte[] message = what == What.SEND ? parcel.data : null;
      long bytes = parcel.wireBytes() - SimPacket.HEADER_BYTES;
      journal.record(what, node, parcel.from.node(), bytes, message);
    }
  }

  private int hostBehind(SimEndpoint end) {
    SimEndpoint peer = end.peer();
    if (peer != null) {
      return peer.transport().node().host();
    }
    return end.handshake() instanceof SimHandshake.Connect connect ? hostOf(connect.location()) : 0;
  }

  static int rankBehind(SimEndpoint end) {
    SimEndpoint peer = end.peer();
    return peer == null ? Math.max(0, end.node()) : peer.transport().node().rank();
  }

  /// Takes a packet whose first byte is at the receiver's port.
  void reached(SimPacket parcel) {
    SimEndpoint from = parcel.from;
    if (parcel.isTorn()) {
      parcel.reached();
      journal.record(What.DROPPED, from.transport().node(), from.node(), 0, null);
      return;
    }
    if (networkFaults.holds(parcel)) {
      journal.record(What.HELD, from.transport().node(), from.node(), 0, null);
      return;
    }
    enter(parcel);
  }

  private void enter(SimPacket parcel) {
    SimEndpoint to = parcel.to == null ? accept(parcel) : parcel.to;
    if (to == null) {
      return;
    }
    parcel.to = to;
    SimNode receiver = to.transport().node();
    boolean within = receiver.host() == parcel.from.transport().node().host();
    NetworkPort port = within ? to.transport().localIn() : in[receiver.host()];
    long busy = parcel.link.occupancyNanos(parcel.wireBytes());
    parcel.passesAt(port.take(events.now(), busy) + busy);
  }

  /// Finds the listener for the first packet of a connection.
  private @Nullable SimEndpoint accept(SimPacket parcel) {
    SimEndpoint caller = parcel.from;
    if (caller.isClosed() || !(caller.handshake() instanceof SimHandshake.Connect connect)) {
      return null;
    }
    SimTransport listener = listening.get(connect.location());
    if (listener == null) {
      events.at(
          events.now() + ClampedDuration.nanos(parcel.link.latency()),
          new ScheduledEvent() {
            @Override
            protected void happen() {
              caller.transport().arrive(() -> caller.lost("connection refused"));
            }
          });
      return null;
    }
    SimEndpoint deceived =
        setup.tamper().takesOldForNew() ? listener.openTo(caller.transport().node().rank()) : null;
    if (deceived != null) {
      deceived.goOnWith(caller);
      return null;
    }
    SimEndpoint called = listener.called(caller);
    caller.meet(called);
    return called;
  }

  /// Delivers a packet that has completely passed the receiver's port.
  void passed(SimPacket parcel) {
    SimEndpoint to = parcel.receiver();
    if (parcel.isTorn() || to.isClosed()) {
      journal.record(What.DROPPED, parcel.from.transport().node(), parcel.from.node(), 0, null);
      return;
    }
    if (parcel.kind == SimPacket.PacketKind.RESET) {
      to.transport().forgetUnread(to);
    }
    to.transport().arrive(parcel);
  }

  /// Returns credit to `end`, whose peer has taken bytes.
  void free(SimEndpoint end, long bytes) {
    networkFaults.free(end, bytes);
  }

  // --- faults

  /// Adds a delay.
  public void thicken(DelayRule delay) {
    networkFaults.thicken(delay);
  }

  /// Removes a delay.
  public void clear(DelayRule delay) {
    networkFaults.clear(delay);
  }

  /// Raises a wall.
  public void raise(Wall wall) {
    networkFaults.raise(wall);
  }

  /// Removes a wall. The bytes that it held arrive after one latency and up to `mostNanos` more,
  /// when their sender retransmits.
  public void remove(Wall wall, long mostNanos) {
    networkFaults.remove(wall, mostNanos);
  }

  /// Resets all connections whose bytes a wall holds, at the sender's end, because its
  /// retransmissions have timed out. The peers are notified when they can be reached.
  public void giveUpHeld() {
    networkFaults.giveUpHeld();
  }

  /// Cuts the next packet from one rank to another when `share` of it has been sent, and resets
  /// both ends of the connection.
  public void snapNext(int fromRank, int toRank, double share) {
    networkFaults.snapNext(fromRank, toRank, share);
  }

  /// Kills a process. Its host ends the connections in order, or resets them, so that the peers
  /// lose unread bytes, or dies too and sends nothing.
  public void kill(SimNode node, Death death) {
    for (SimTransport transport : List.copyOf(transports)) {
      if (transport.node() == node) {
        List<SimEndpoint> ends = List.copyOf(transport.endpoints());
        transport.die(events.now());
        for (SimEndpoint end : ends) {
          if (end.peer() != null && death != Death.SILENT) {
            boolean orderly = death == Death.CLOSED;
            send(
                SimPacket.empty(
                    orderly ? SimPacket.PacketKind.END : SimPacket.PacketKind.RESET, end));
          }
        }
      }
    }
  }

  /// The end of a connection, as the peers of a dying process see it.
  public enum Death {
    /// The end of the stream after all bytes that had been sent.
    CLOSED,
    /// A reset.
    RESET,
    /// Nothing.
    SILENT
  }
}
