// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.util.concurrent.atomic.AtomicLong;

/// Counts the bytes that the device has moved directly between the memory of two transports, and
/// those of other long payloads, which this side has sent through a ring. Written by the polling
/// thread, read by any thread.
public final class OneSided {

  private final AtomicLong written = new AtomicLong();
  private final AtomicLong read = new AtomicLong();
  private final AtomicLong ring = new AtomicLong();

  /// Creates counters of 0.
  public OneSided() {}

  /// Hot path.
  void wrote(long bytes) {
    written.setOpaque(written.getPlain() + bytes);
  }

  /// Hot path.
  void read(long bytes) {
    read.setOpaque(read.getPlain() + bytes);
  }

  /// Hot path.
  void sentByRing(long bytes) {
    ring.setOpaque(ring.getPlain() + bytes);
  }

  /// Returns the bytes of long payloads that were sent through a ring.
  public long ringBytes() {
    return ring.getOpaque();
  }

  /// Returns the bytes of writes.
  public long writtenBytes() {
    return written.getOpaque();
  }

  /// Returns the bytes of reads.
  public long readBytes() {
    return read.getOpaque();
  }
}
