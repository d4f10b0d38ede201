// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.collective.frame.Hash;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// The number of times that this rank has used a name, and the signature of the latest use. They
/// distinguish late frames from early ones, and reveal a disagreement even after the operation has
/// completed here. Confined to the progress thread.
public final class NameUse {

  private final long key;
  private final Group group;
  private final String name;
  private OperationSignature last;
  private int count;
  private boolean settled;
  private boolean held;
  private long touched;
  private @Nullable BitSet answered;

  NameUse(long key, Group group, String name, OperationSignature first) {
    this.key = key;
    this.group = group;
    this.name = name;
    this.last = first;
  }

  /// Returns the identity of one use of a name among all operations in flight.
  public static long id(long key, int sequence) {
    return Hash.mix(key + sequence * 0x9E3779B97F4A7C15L);
  }

  /// Counts a submission; returns its sequence number.
  int next(OperationSignature signature) {
    last = signature;
    settled = false;
    answered = null;
    return count++;
  }

  public long key() {
    return key;
  }

  /// Returns the time of the latest use or release, by the clock of `NameUses`.
  long touched() {
    return touched;
  }

  void touch(long clock) {
    touched = clock;
    held = false;
  }

  /// Blocks further uses until all members have replied whether the name may be forgotten.
  public void hold() {
    held = true;
  }

  public boolean isHeld() {
    return held;
  }

  public int count() {
    return count;
  }

  public boolean begun(int sequence) {
    return sequence - count < 0;
  }

  /// Returns whether this use is the latest one, whose signature is known.
  public boolean latest(int sequence) {
    return sequence == count - 1;
  }

  /// Records that the latest use has failed here, so that a disagreement needs no report.
  void settle() {
    settled = true;
  }

  /// Returns whether a member that disagrees on the latest use, which has ended here, must be
  /// notified: once per member.
  public boolean answers(int member) {
    if (settled) {
      return false;
    }
    BitSet known = answered == null ? new BitSet() : answered;
    answered = known;
    boolean first = !known.get(member);
    known.set(member);
    return first;
  }

  public Group group() {
    return group;
  }

  public String name() {
    return name;
  }

  public OperationSignature last() {
    return last;
  }
}
