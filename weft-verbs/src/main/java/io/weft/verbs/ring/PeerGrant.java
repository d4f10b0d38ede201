// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

/// A region of the peer's that our device may write and read by itself.
final class PeerGrant {

  private final int key;
  private final long address;
  private final long bytes;
  private final int deviceKey;
  private int claims;
  private boolean withdrawn;
  private boolean answered;

  /// @param key of the region
  /// @param deviceKey that our device has to show to the peer's
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

  /// The peer is told that no operation of ours will touch it.
  void answer() {
    answered = true;
  }

  boolean isAnswered() {
    return answered;
  }

  /// An operation begins to use it.
  ///
  /// Hot path.
  void claim() {
    claims++;
  }

  /// An operation does not use it any more.
  ///
  /// Hot path.
  void settle() {
    claims--;
  }

  /// Whether no operation of ours will touch the region any more.
  boolean isOver() {
    return withdrawn && claims == 0;
  }
}
