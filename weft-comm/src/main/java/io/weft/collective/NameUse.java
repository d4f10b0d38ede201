// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

/// How often this rank has used a name, and what it submitted last: so that a late frame is told
/// from an early one, and a disagreement is noticed even after the operation completed here.
/// Confined to the lane's thread.
final class NameUse {

  private final Group group;
  private final String name;
  private Signature last;
  private int count;
  private boolean settled;

  NameUse(Group group, String name, Signature first) {
    this.group = group;
    this.name = name;
    this.last = first;
  }

  /// Counts a submission; returns its number.
  int next(Signature signature) {
    last = signature;
    settled = false;
    return count++;
  }

  /// How many uses have begun here.
  int count() {
    return count;
  }

  /// Whether this use has begun here.
  boolean begun(int sequence) {
    return sequence - count < 0;
  }

  /// Whether this is the latest use, whose signature is known.
  boolean latest(int sequence) {
    return sequence == count - 1;
  }

  /// The latest use has failed here, or its peer has been told: further disagreement is no news.
  void settle() {
    settled = true;
  }

  boolean settled() {
    return settled;
  }

  Group group() {
    return group;
  }

  String name() {
    return name;
  }

  Signature last() {
    return last;
  }
}
