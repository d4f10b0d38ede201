// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.cluster.ProgressThreads;
import io.weft.rendezvous.Rendezvous;

/// How payloads have moved since a rank's start: between the memory where they lie and the memory
/// where they are used, or over copies. Short payloads, which travel in messages, do not count. All
/// counts are 0 for a transport that does not count them.
///
/// @param registrations registrations of memory with a device
/// @param oneSidedBytes bytes that this rank's device has moved directly between both memories
/// @param ringBytes bytes that this rank has sent through a connection's buffers instead
/// @param copiedBytes bytes that this rank has copied into registered memory before a transfer
public record TransferCounts(
    long registrations, long oneSidedBytes, long ringBytes, long copiedBytes) {

  /// The counts of a rank that has transferred nothing.
  public static final TransferCounts NONE = new TransferCounts(0, 0, 0, 0);

  /// Returns the counts of a rank with these services.
  static TransferCounts of(ProgressThreads threads, long lanesCopied, Rendezvous rendezvous) {
    return new TransferCounts(
        threads.counter("registrations"),
        threads.counter("oneSidedWrittenBytes") + threads.counter("oneSidedReadBytes"),
        threads.counter("ringBytes"),
        lanesCopied + rendezvous.counts().totals().copiedBytes());
  }

  /// Returns the sum of two ranks' counts.
  public TransferCounts plus(TransferCounts other) {
    return new TransferCounts(
        registrations + other.registrations,
        oneSidedBytes + other.oneSidedBytes,
        ringBytes + other.ringBytes,
        copiedBytes + other.copiedBytes);
  }

  /// Returns the counts since `earlier`.
  public TransferCounts minus(TransferCounts earlier) {
    return new TransferCounts(
        registrations - earlier.registrations,
        oneSidedBytes - earlier.oneSidedBytes,
        ringBytes - earlier.ringBytes,
        copiedBytes - earlier.copiedBytes);
  }

  /// Returns the share of the bytes that a device has moved directly, 0 to 1; 0 if none moved.
  public double oneSidedShare() {
    long all = oneSidedBytes + ringBytes;
    return all == 0 ? 0 : (double) oneSidedBytes / all;
  }
}
