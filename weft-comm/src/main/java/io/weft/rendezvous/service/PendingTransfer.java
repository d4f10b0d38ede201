// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.route.Route;
import org.jspecify.annotations.Nullable;

/// A side whose tensor may be long. A long tensor is moved in parts, and each part needs a place in
/// a `TransferWindow`. The side is itself an entry of the window, so that waiting allocates
/// nothing. Confined to the progress thread once it has entered.
abstract sealed class PendingTransfer extends PendingSide permits Publication, PendingReceive {

  /// The position of a transfer that does not wait in its window.
  static final int NOT_WAITING = -1;

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

  private long movedBytes;
  private boolean posted;

  /// The submission of a transfer.
  ///
  /// @param number of the transfer on this rank
  /// @param nanos time of its submission
  record Submitted(long number, long nanos) {}

  PendingTransfer(Route route, RendezvousKey key) {
    super(route, key);
  }

  /// Returns the length of the tensor.
  abstract long bytes();

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
}
