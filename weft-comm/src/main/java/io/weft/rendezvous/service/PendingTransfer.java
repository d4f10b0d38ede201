// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.cluster.TokenOwner;
import io.weft.cluster.item.OutboundItem;
import io.weft.observer.ObservedOperation;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.frame.ItemWriter;
import io.weft.rendezvous.frame.TensorSpec;
import io.weft.rendezvous.route.Route;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A side whose tensor may be long. A long tensor is moved in parts, and each part needs a place in
/// a `TransferWindow`. The side is itself an entry of the window, so that waiting allocates
/// nothing. Confined to the progress thread once it has entered.
abstract sealed class PendingTransfer extends PendingSide
    implements OutboundItem<ItemWriter>, TokenOwner, ObservedOperation
    permits Publication, PendingReceive {

  /// The position of a transfer that does not wait in its window.
  static final int NOT_WAITING = -1;

  final long stepNumber;

  /// The signature of the tensor; null if it is dead or not known yet.
  @Nullable TensorSpec signature;

  /// The window; null before the transfer has entered it and after it has left.
  @Nullable TransferWindow window;

  /// The place in the order: the smallest moves next.
  long turn;

  /// The place among transfers of equal turn, by the time at which they became ready.
  long ticket;

  /// The position among the waiting transfers.
  int position = NOT_WAITING;

  /// The length of the part that waits or is in progress.
  long partBytes;

  private final Submitted submitted;
  private long movedBytes;
  private boolean posted;

  /// The submission of a transfer.
  ///
  /// @param number of the transfer on this rank
  /// @param nanos time of its submission
  record Submitted(long number, long nanos) {}

  PendingTransfer(Route route, RendezvousKey key, Submitted submitted) {
    super(route, key);
    this.stepNumber = key.step();
    this.submitted = submitted;
  }

  final TensorSpec live() {
    return Objects.requireNonNull(signature, "dead or not known");
  }

  /// Returns the length of the parts that were moved.
  final long movedBytes() {
    return movedBytes;
  }

  /// Returns the length of the parts that were not moved yet.
  final long leftBytes() {
    return bytes() - movedBytes;
  }

  /// Returns whether the transport has a posted part of it.
  final boolean isPosted() {
    return posted;
  }

  /// Records that the transport has taken the part.
  final void posted() {
    posted = true;
  }

  /// Records that the transport no longer has the part, which was moved if `whole`.
  final void unposted(boolean whole) {
    posted = false;
    movedBytes += whole ? partBytes : 0;
  }

  // --- for the observer

  @Override
  public final Service service() {
    return Service.RENDEZVOUS;
  }

  @Override
  public final long id() {
    return submitted.number();
  }

  @Override
  public final String name() {
    return edge().name();
  }

  @Override
  public final int sequence() {
    return Math.toIntExact(Math.min(Integer.MAX_VALUE, stepNumber));
  }

  @Override
  public final long bytes() {
    return signature == null ? 0 : signature.bytes();
  }

  @Override
  public final long submittedNanos() {
    return submitted.nanos();
  }
}
