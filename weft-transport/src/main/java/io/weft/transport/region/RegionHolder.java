// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.region;

/// A transport that shares its regions with another, as TCP does with shared memory. Both use one
/// table, so that a key denotes the same region in both. Thread-safe.
public interface RegionHolder {

  /// Returns the table of its regions.
  RegionTable table();
}
