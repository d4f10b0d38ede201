// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.comm.CommException;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.route.Route;
import io.weft.rendezvous.route.RouteBuffer;
import io.weft.transport.Completion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A receive of this rank, from its submission to its arrival.
final class PendingReceive extends PendingTransfer {

  /// The state of a receive.
  enum Stand {
    /// In the table, or requested from the peer.
    ASKED,
    /// Requested, with the memory into which the peer may write.
    ASKED_INTO,
    /// The peer may write.
    AWAITS_WRITE,
    /// The complete tensor has arrived, but the pool has no room to deliver it.
    AWAITS_MEMORY,
    /// Reading, or waiting for memory or room to read.
    READS,
    ENDED
  }

  final RendezvousKey key;
  final long limitNanos;
  Stand stand = Stand.ASKED;

  /// The deadline, by the time in which the progress thread polled.
  long deadline;

  @Nullable RouteBuffer receiveBuffer;

  /// The tensor, in `AWAITS_MEMORY`.
  byte @Nullable [] early;

  private final Consumer<? super Arrival> receiver;
  private @Nullable DestinationSide side;
  private @Nullable RendezvousPeer peer;
  private int id;
  private @Nullable Arrival arrival;

  // The state of a read of the producer's memory.
  private int token;
  private @Nullable RemoteRegion from;
  private boolean armed;
  private final Completion read = new PartRead();

  /// The length of the parts that the source has written.
  private long writtenBytes;

  PendingReceive(
      Route route,
      RendezvousKey key,
      long limitNanos,
      Consumer<? super Arrival> receiver,
      Submitted submitted) {
    super(route, key, submitted);
    this.key = key;
    this.limitNanos = limitNanos;
    this.receiver = receiver;
  }

  @Override
  protected void enter(MeshRendezvous rendezvous) {
    side = rendezvous.destination();
    side.enter(this);
  }

  @Override
  boolean dependsOn(int rank) {
    return edge().source() == rank;
  }

  @Override
  void fail(CommException cause) {
    side().fail(this, cause);
  }

  private DestinationSide side() {
    return Objects.requireNonNull(side, "not entered");
  }

  /// The peer of the request; null if the producer is this rank.
  @Nullable RendezvousPeer peer() {
    return peer;
  }

  /// The id of the request at its source.
  int request() {
    return id;
  }

  void asks(RendezvousPeer source, int slot) {
    peer = source;
    id = slot;
  }

  RouteBuffer there() {
    return Objects.requireNonNull(receiveBuffer, "no memory");
  }

  // --- reads

  void reads(int releaseToken, RemoteRegion region) {
    stand = Stand.READS;
    token = releaseToken;
    from = region;
  }

  int token() {
    return token;
  }

  /// Returns the memory for the next part.
  Slice partInto() {
    return there().slice(movedBytes(), partBytes);
  }

  /// Returns the place of the next part at the source.
  RemoteSlice part() {
    return new RemoteSlice(
        Objects.requireNonNull(from, "nothing to read"), movedBytes(), partBytes);
  }

  /// Returns the completion of the next part, armed.
  Completion read() {
    if (!armed) {
      armed = true;
      read.arm(1);
    }
    return read;
  }

  /// Counts a written part. Returns whether the tensor is whole.
  boolean written() {
    writtenBytes += TransferWindow.BYTES;
    return writtenBytes >= bytes();
  }

  private final class PartRead extends Completion {
    @Override
    protected void onSuccess() {
      armed = false;
      unposted(true);
      side().onRead(PendingReceive.this, null);
    }

    @Override
    protected void onFailure(TransportException first) {
      armed = false;
      unposted(false);
      side().onRead(PendingReceive.this, first);
    }
  }

  @Override
  public boolean onNotify(int fromRank) {
    RendezvousPeer source = peer;
    if (source == null || source.rank() != fromRank) {
      return false;
    }
    side().onNotify(this);
    return true;
  }

  // --- for the observer

  @Override
  public String words() {
    return "receive" + (signature == null ? "" : " " + signature);
  }

  @Override
  public int lastHeard() {
    return signature == null ? -1 : edge().source();
  }

  @Override
  public List<Integer> awaited() {
    return stand == Stand.ENDED ? List.of() : List.of(edge().source());
  }

  // --- completion

  void ends(Arrival with) {
    stand = Stand.ENDED;
    arrival = with;
  }

  void tell() {
    receiver.accept(Objects.requireNonNull(arrival, "not over"));
  }

  // --- sending

  @Override
  public boolean write(ItemWriter message) {
    return switch (stand) {
      case ASKED ->
          message.request(id, route.told(), key.step(), frame, iteration, side().asksForWrites());
      case ASKED_INTO ->
          message.requestInto(
              id, route.told(), key.step(), frame, iteration, live(), side().export(there()));
      case AWAITS_WRITE, AWAITS_MEMORY, READS, ENDED -> true;
    };
  }

  @Override
  public void sent() {
    if (stand != Stand.ENDED) {
      side().onSent(this);
    }
  }

  @Override
  public boolean asks() {
    return stand == Stand.ASKED || stand == Stand.ASKED_INTO;
  }
}
