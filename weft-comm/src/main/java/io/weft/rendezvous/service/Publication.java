// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.comm.CommException;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.rendezvous.route.Route;
import io.weft.rendezvous.route.RouteBuffer;
import io.weft.tensor.TensorView;
import io.weft.transport.Completion;
import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import io.weft.transport.Slice;
import io.weft.transport.TransportException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A tensor that this rank published, or the information that it is dead, from its publication to
/// its release.
final class Publication extends PendingTransfer {

  /// The means by which the tensor reaches the requesting peer.
  enum Delivery {
    /// No peer has requested it.
    NONE,
    DEAD,
    INLINE,
    /// The peer reads it after it has received the location.
    META,
    /// It is written to the peer after the peer has sent a destination.
    SHAPE,
    /// It is being written.
    WRITE,
    /// It could not be read; the peer receives the reason.
    UNREADABLE,
    /// It needs no further answer.
    ENDED
  }

  /// The tensor; null if it is dead.
  final @Nullable TensorView tensor;

  Delivery delivery = Delivery.NONE;

  private final Runnable release;
  private @Nullable CommException failure;
  private @Nullable SourceSide side;
  private @Nullable RendezvousPeer peer;
  private int id;
  private int token;
  private @Nullable MemoryRegion region;
  private @Nullable RouteBuffer copy;
  private boolean offered;
  private boolean left;
  private @Nullable RemoteRegion into;
  private @Nullable Written written;
  private byte[] why = {};

  /// Creates a publication of this key, which was checked.
  ///
  /// @param tensor the tensor, or null if it is dead
  Publication(
      Route route,
      RendezvousKey key,
      @Nullable TensorView tensor,
      Runnable release,
      Submitted submitted) {
    super(route, key, submitted);
    this.tensor = tensor;
    this.signature = tensor == null ? null : TensorSpec.of(tensor);
    this.release = release;
  }

  @Override
  protected void enter(MeshRendezvous rendezvous) {
    side = rendezvous.source();
    side.enter(this);
  }

  @Override
  boolean dependsOn(int rank) {
    return peer != null && peer.rank() == rank;
  }

  @Override
  void fail(CommException cause) {
    side().fail(this, cause);
  }

  // --- for the source side

  private SourceSide side() {
    return Objects.requireNonNull(side, "not entered");
  }

  /// Sets the reason why the tensor is not delivered. Only the first reason counts.
  void fails(CommException cause) {
    failure = failure == null ? cause : failure;
  }

  @Nullable CommException failure() {
    return failure;
  }

  Runnable release() {
    return release;
  }

  RendezvousPeer peer() {
    return Objects.requireNonNull(peer, "not requested");
  }

  /// The id of the request that it answers.
  int request() {
    return id;
  }

  int token() {
    return token;
  }

  @Nullable MemoryRegion region() {
    return region;
  }

  /// Assigns the tensor to a request.
  ///
  /// @param slot the token that the peer returns, if any
  void goesTo(ParkedRequest request, Delivery by, int slot) {
    peer = request.peer;
    id = request.id;
    delivery = by;
    token = slot;
  }

  void registered(MemoryRegion as) {
    region = as;
  }

  /// Records the copy of the tensor, whose region peers read.
  void copied(RouteBuffer to, MemoryRegion as) {
    copy = to;
    region = as;
  }

  /// Removes and returns the copy; null if the tensor was not copied.
  @Nullable RouteBuffer takeCopy() {
    RouteBuffer taken = copy;
    copy = null;
    if (taken != null) {
      region = null;
    }
    return taken;
  }

  /// Returns whether the consumer knows the region.
  boolean isOffered() {
    return offered;
  }

  /// Records that the consumer no longer accesses the region.
  void left() {
    left = true;
  }

  boolean hasLeft() {
    return left;
  }

  void goesInto(RemoteRegion memory) {
    into = memory;
  }

  /// Returns the place of the next part at the consumer.
  RemoteSlice partInto() {
    return new RemoteSlice(Objects.requireNonNull(into, "no destination"), movedBytes(), partBytes);
  }

  /// Returns the next part to write.
  Slice part() {
    return Objects.requireNonNull(region, "not registered").slice(movedBytes(), partBytes);
  }

  /// Returns the completion of the next part, armed.
  Completion written() {
    Written known = written;
    if (known == null) {
      known = new Written();
      written = known;
    }
    if (!known.armed) {
      known.armed = true;
      known.arm(1);
    }
    return known;
  }

  private final class Written extends Completion {
    private boolean armed;

    @Override
    protected void onSuccess() {
      armed = false;
      unposted(true);
      side().onWritten(Publication.this, leftBytes() == 0);
    }

    /// The consumer has withdrawn, or it is gone, which the mesh reports.
    @Override
    protected void onFailure(TransportException first) {
      armed = false;
      unposted(false);
      side().onWritten(Publication.this, true);
    }
  }

  /// Returns false, because no peer may write to a source.
  @Override
  public boolean onNotify(int fromRank) {
    return false;
  }

  // --- for the observer

  @Override
  public String words() {
    return "publish " + (signature == null ? "dead" : signature);
  }

  @Override
  public int lastHeard() {
    RendezvousPeer by = peer;
    return by == null ? -1 : by.rank();
  }

  @Override
  public List<Integer> awaited() {
    return delivery == Delivery.ENDED ? List.of() : List.of(edge().destination());
  }

  // --- sending

  @Override
  public boolean write(ItemWriter message) {
    return switch (delivery) {
      case NONE, WRITE, ENDED -> true;
      case DEAD -> message.dead(id);
      case INLINE -> inline(message);
      case UNREADABLE -> message.failed(id, why);
      case META -> message.meta(id, token, live(), offered().export());
      case SHAPE -> message.shape(id, token, live());
    };
  }

  private MemoryRegion offered() {
    return Objects.requireNonNull(region, "not registered");
  }

  private boolean inline(ItemWriter message) {
    try {
      return message.inline(id, live(), Objects.requireNonNull(tensor).data());
    } catch (RuntimeException | Error thrown) {
      delivery = Delivery.UNREADABLE;
      why = side().unreadable(this, thrown);
      return message.failed(id, why);
    }
  }

  @Override
  public void sent() {
    offered |= delivery == Delivery.META;
    if (delivery == Delivery.DEAD
        || delivery == Delivery.INLINE
        || delivery == Delivery.UNREADABLE) {
      side().finish(this);
    }
  }
}
