// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

/// A block of the peer's memory that the local device may access directly.
final class PeerGrant {

  private final long address;
  private final long bytes;
  private final int deviceKey;
  private int claims;
  private boolean withdrawn;

  /// @param deviceKey key that the local device presents to the peer's
  PeerGrant(long address, long bytes, int deviceKey) {
    this.address = address;
    this.bytes = bytes;
    this.deviceKey = deviceKey;
  }

  long address() {
    return address;
  }

  int deviceKey() {
    return deviceKey;
  }

  /// Hot path.
  boolean contains(long from, long length) {
    long offset = from - address;
    return offset >= 0 && length >= 0 && length <= bytes && offset <= bytes - length;
  }

  void withdraw() {
    withdrawn = true;
  }

  /// Counts an operation that uses the block.
  ///
  /// Hot path.
  void claim() {
    claims++;
  }

  /// Counts an operation as ended.
  ///
  /// Hot path.
  void settle() {
    claims--;
  }

  boolean isWithdrawn() {
    return withdrawn;
  }

  /// Returns whether no operation of this side will access the block again.
  boolean isEnded() {
    return withdrawn && claims == 0;
  }
}
