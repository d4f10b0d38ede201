// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import java.util.concurrent.atomic.AtomicLong;

/// How many bytes the device has moved between memory of two transports by itself. Written by the
/// polling thread; read by any.
public final class OneSided {

  private final AtomicLong written = new AtomicLong();
  private final AtomicLong read = new AtomicLong();

  /// None yet.
  public OneSided() {}

  /// Hot path.
  void wrote(long bytes) {
    written.setOpaque(written.getPlain() + bytes);
  }

  /// Hot path.
  void read(long bytes) {
    read.setOpaque(read.getPlain() + bytes);
  }

  /// Of writes.
  public long writtenBytes() {
    return written.getOpaque();
  }

  /// Of reads.
  public long readBytes() {
    return read.getOpaque();
  }
}
