// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The windows of one side, one for each peer. Confined to the progress thread.
final class TransferWindows {

  private final long maxTransferBytes;
  private final Predicate<PendingTransfer> start;
  private final List<TransferWindow> open = new ArrayList<>();
  private @Nullable TransferWindow[] byRank = new TransferWindow[0];

  /// Creates windows without transfers.
  ///
  /// @param maxTransferBytes the transport's longest read or write
  /// @param start posts the next part of a transfer, and returns false if the endpoint has no room
  TransferWindows(long maxTransferBytes, Predicate<PendingTransfer> start) {
    this.maxTransferBytes = maxTransferBytes;
    this.start = start;
  }

  /// Adds a transfer that has become ready.
  ///
  /// Hot path.
  void enter(PendingTransfer it, RendezvousPeer peer) {
    TransferWindow window = of(peer.rank());
    window.enter(it);
    list(window);
  }

  /// Ends the part in progress of a transfer, and lets the rest wait.
  ///
  /// Hot path.
  void again(PendingTransfer it) {
    TransferWindow window = it.window;
    if (window != null) {
      window.again(it);
      list(window);
    }
  }

  /// Gives back the place of a transfer, if it has one.
  ///
  /// Hot path.
  void leave(PendingTransfer it) {
    TransferWindow window = it.window;
    if (window != null) {
      window.leave(it);
      if (window.hasWaiting()) {
        list(window);
      }
    }
  }

  /// Starts the waiting transfers that have room. Returns the number of parts that were posted.
  ///
  /// Hot path.
  int advance() {
    int posted = 0;
    int kept = 0;
    for (int i = 0; i < open.size(); i++) {
      TransferWindow window = open.get(i);
      boolean room = true;
      PendingTransfer it = window.next();
      while (it != null) {
        room = start.test(it);
        if (!room) {
          window.again(it);
          break;
        }
        posted++;
        it = window.next();
      }
      if (room) {
        window.listed(false); // a completion lists it again
      } else {
        open.set(kept++, window);
      }
    }
    while (open.size() > kept) {
      open.removeLast();
    }
    return posted;
  }

  private void list(TransferWindow window) {
    if (!window.isListed()) {
      window.listed(true);
      open.add(window);
    }
  }

  private TransferWindow of(int rank) {
    if (rank >= byRank.length) {
      byRank = Arrays.copyOf(byRank, rank + 1);
    }
    TransferWindow window = byRank[rank];
    if (window == null) {
      window = new TransferWindow(maxTransferBytes);
      byRank[rank] = window;
    }
    return window;
  }
}
