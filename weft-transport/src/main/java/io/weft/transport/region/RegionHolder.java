// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

/// A transport whose regions another one may carry on with, as shared memory does over TCP: both
/// have one table, so that a key means the same to both. Any thread.
public interface RegionHolder {

  /// Where its regions are registered.
  RegionTable table();
}
