// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.collective.frame.Hash;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// How often this rank has used a name, and what it submitted last: so that a late frame is told
/// from an early one, and a disagreement is noticed even after the operation completed here.
/// Confined to the progress thread.
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

  /// One use of a name among all that are under way.
  public static long id(long key, int sequence) {
    return Hash.mix(key + sequence * 0x9E3779B97F4A7C15L);
  }

  /// Counts a submission; returns its number.
  int next(OperationSignature signature) {
    last = signature;
    settled = false;
    answered = null;
    return count++;
  }

  /// Of the operations.
  public long key() {
    return key;
  }

  /// When it was used or asked for last, by the clock of `NameUses`.
  long touched() {
    return touched;
  }

  void touch(long clock) {
    touched = clock;
    held = false;
  }

  /// It must not be used until all members have said whether it is to be forgotten.
  public void hold() {
    held = true;
  }

  public boolean isHeld() {
    return held;
  }

  /// How many uses have begun here.
  public int count() {
    return count;
  }

  /// Whether this use has begun here.
  public boolean begun(int sequence) {
    return sequence - count < 0;
  }

  /// Whether this is the latest use, whose signature is known.
  public boolean latest(int sequence) {
    return sequence == count - 1;
  }

  /// The latest use has failed here: disagreement is no news.
  void settle() {
    settled = true;
  }

  /// Whether a member that disagrees on the latest use, which is over here, is to be told; once.
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
