// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Numbers that stand for something in messages and come back: a slot and its generation, 30 bits,
/// so that what comes late is told from what is new. Slots are used in turn. Confined to the
/// progress thread.
final class RequestNumbers<T> {

  private static final int SLOT_BITS = 16;
  private static final int MOST = 1 << SLOT_BITS;
  private static final int GENERATION_MASK = (1 << 14) - 1;

  private @Nullable Object[] held = new Object[256];
  private int[] generations = new int[256];
  private int used;
  private int cursor;

  /// Whether no more can be taken.
  boolean isFull() {
    return used == MOST;
  }

  /// Hot path. Not while it is full.
  int take(T it) {
    if (used * 2 > held.length && held.length < MOST) {
      cursor = held.length;
      held = Arrays.copyOf(held, held.length * 2);
      generations = Arrays.copyOf(generations, held.length);
    }
    while (held[cursor & (held.length - 1)] != null) {
      cursor++;
    }
    int slot = cursor++ & (held.length - 1);
    used++;
    held[slot] = it;
    generations[slot] = (generations[slot] + 1) & GENERATION_MASK;
    return generations[slot] << SLOT_BITS | slot;
  }

  /// Null if the number is not in use (any more).
  ///
  /// Hot path.
  @SuppressWarnings("unchecked") // only take writes, and only a T
  @Nullable T get(int number) {
    int slot = number & (MOST - 1);
    return slot < held.length && generations[slot] == number >>> SLOT_BITS ? (T) held[slot] : null;
  }

  /// Hot path.
  void free(int number) {
    if (get(number) != null) {
      held[number & (MOST - 1)] = null;
      used--;
    }
  }
}
