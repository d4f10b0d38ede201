// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

/// What a rank's rendezvous holds, and what it has done so far. The first seven are 0 when every
/// step has ended and every received tensor was closed.
///
/// @param queued 1 while there are calls that the others do not show yet
/// @param steps that are known and have not ended
/// @param published tensors that are here and not released yet
/// @param waiting receives of this rank that have not ended
/// @param parked requests of other ranks whose tensors are not there yet
/// @param draining tensors and receive buffer of failed transfers that the transport may still use
/// @param leases received tensors that were not closed yet
/// @param received tensors that came from other ranks, dead ones included
/// @param requests messages that asked for at least one tensor: the remote calls
/// @param messages that were sent, those included
/// @param registrations of memory, those that reuse did not save
public record RendezvousCounts(
    long queued,
    long steps,
    long published,
    long waiting,
    long parked,
    long draining,
    long leases,
    long received,
    long requests,
    long messages,
    long registrations) {

  /// Whether nothing of any step is left.
  public boolean isEmpty() {
    return queued + steps + published + waiting + parked + draining + leases == 0;
  }
}
