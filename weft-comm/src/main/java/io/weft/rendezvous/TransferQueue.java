// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import java.util.Locale;

/// The synchronization of the queue between user threads and the progress thread (SEASTAR in
/// docs/papers.md).
public enum TransferQueue {
  /// Each receive and publication is queued by one compare-and-set.
  LOCK_FREE,
  /// User threads and the progress thread hold a lock while they change the queue; for
  /// measurements.
  LOCKED;

  /// Returns the value of the setting, in lower case, with a hyphen between words.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
