// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Objects;

/// The current state of a rank's rendezvous, and its totals. The first seven components are 0 when
/// every step has ended and every received tensor was closed.
///
/// @param queued 1 while there are calls that the other components do not include yet
/// @param steps known steps that have not ended
/// @param published tensors that are published and not yet released
/// @param waiting receives of this rank that have not ended
/// @param parked requests of other ranks whose tensors are not published yet
/// @param draining tensors and receive buffers of failed transfers that the transport may still
///   access
/// @param leases received tensors that were not closed yet
/// @param totals the totals
public record RendezvousCounts(
    long queued,
    long steps,
    long published,
    long waiting,
    long parked,
    long draining,
    long leases,
    Totals totals) {

  /// Checks the totals.
  public RendezvousCounts {
    Objects.requireNonNull(totals, "totals");
  }

  /// The counts of a rank that has received and published nothing.
  public static final RendezvousCounts NONE =
      new RendezvousCounts(0, 0, 0, 0, 0, 0, 0, new Totals(0, 0, 0, 0, 0));

  /// The totals since the rank's start.
  ///
  /// @param received tensors received from other ranks, including dead ones
  /// @param requests messages that request at least one tensor
  /// @param messages messages sent, including requests
  /// @param registrations registrations of memory, excluding reuses of an earlier one
  /// @param copiedBytes bytes of published tensors that were copied into registered memory
  public record Totals(
      long received, long requests, long messages, long registrations, long copiedBytes) {}

  /// Returns whether no state of any step is left.
  public boolean isEmpty() {
    return queued + steps + published + waiting + parked + draining + leases == 0;
  }
}
