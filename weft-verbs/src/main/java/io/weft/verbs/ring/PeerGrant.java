// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

/// A region of the peer that the local device may access directly.
final class PeerGrant {

  private final int key;
  private final long address;
  private final long bytes;
  private final int deviceKey;
  private int claims;
  private boolean withdrawn;
  private boolean answered;

  /// @param key of the region
  /// @param deviceKey key that the local device presents to the peer's
  PeerGrant(int key, long address, long bytes, int deviceKey) {
    this.key = key;
    this.address = address;
    this.bytes = bytes;
    this.deviceKey = deviceKey;
  }

  int key() {
    return key;
  }

  long address() {
    return address;
  }

  int deviceKey() {
    return deviceKey;
  }

  /// Hot path.
  boolean contains(long offset, long length) {
    return offset >= 0 && length >= 0 && length <= bytes && offset <= bytes - length;
  }

  boolean isWithdrawn() {
    return withdrawn;
  }

  void withdraw() {
    withdrawn = true;
  }

  /// Records that the peer was told that this side no longer accesses the region.
  void answer() {
    answered = true;
  }

  boolean isAnswered() {
    return answered;
  }

  /// Counts an operation that uses the region.
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

  /// Returns whether no operation of this side will access the region again.
  boolean isEnded() {
    return withdrawn && claims == 0;
  }
}
