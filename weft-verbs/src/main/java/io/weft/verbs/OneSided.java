// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import java.util.concurrent.atomic.AtomicLong;

/// How many bytes the device has moved between memory of two transports by itself. Written by the
/// polling thread; read by any.
final class OneSided {

  private final AtomicLong written = new AtomicLong();
  private final AtomicLong read = new AtomicLong();

  /// Hot path.
  void wrote(long bytes) {
    written.setOpaque(written.getPlain() + bytes);
  }

  /// Hot path.
  void read(long bytes) {
    read.setOpaque(read.getPlain() + bytes);
  }

  long writtenBytes() {
    return written.getOpaque();
  }

  long readBytes() {
    return read.getOpaque();
  }
}
