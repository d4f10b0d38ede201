// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import org.jspecify.annotations.Nullable;

/// The exchanges that peers may write to, by the token that comes back in a write's immediate
/// value: a slot number and its generation, so that a late write of an earlier exchange is told
/// from one of this. Confined to the progress thread.
public final class TaskTokens {

  private static final int SLOT_BITS = 16;
  private static final int GENERATION_BITS = 14;

  private @Nullable StageTask[] slots = new StageTask[64];
  private int[] generations = new int[64];
  private int used;

  public int take(StageTask task) {
    if (used == slots.length) {
      if (used == 1 << SLOT_BITS) {
        throw new IllegalStateException(
            used + " exchanges are under way, more than fit the protocol");
      }
      slots = java.util.Arrays.copyOf(slots, used * 2);
      generations = java.util.Arrays.copyOf(generations, used * 2);
    }
    int slot = 0;
    while (slots[slot] != null) {
      slot++;
    }
    used++;
    slots[slot] = task;
    generations[slot] = (generations[slot] + 1) & ((1 << GENERATION_BITS) - 1);
    return generations[slot] << SLOT_BITS | slot;
  }

  /// Null if the token is not in use (any more).
  ///
  /// Hot path.
  public @Nullable StageTask get(int token) {
    int slot = token & ((1 << SLOT_BITS) - 1);
    if (slot >= slots.length || generations[slot] != token >>> SLOT_BITS) {
      return null;
    }
    return slots[slot];
  }

  public void free(int token) {
    int slot = token & ((1 << SLOT_BITS) - 1);
    if (get(token) != null) {
      slots[slot] = null;
      used--;
    }
  }
}
