// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.TensorSignature;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/// The tensors that all ranks know, each by the number of its slot, so that one bit says "ready
/// here". When it is full, the one that was used longest ago makes room. The same on all ranks,
/// since all make the same changes in the same order. Confined to one thread.
final class ResponseCache {

  private record Entry(int slot, TensorSignature signature) {}

  private final int capacity;
  private final Map<String, Entry> entries = new HashMap<>();

  /// Names, used longest ago first.
  private final SequencedSet<String> order = new LinkedHashSet<>();

  private final @Nullable String[] names;
  private final BitSet used = new BitSet();

  /// @param capacity tensors that it remembers; 0 = none
  ResponseCache(int capacity) {
    this.capacity = capacity;
    this.names = new String[capacity];
  }

  /// One more than the highest slot in use.
  int slots() {
    return used.length();
  }

  /// Who is in this slot; null = nobody.
  @Nullable String name(int slot) {
    return names[slot];
  }

  boolean has(String name) {
    return entries.containsKey(name);
  }

  /// Of one that is known.
  int slot(String name) {
    return entry(name).slot();
  }

  /// Of one that is known.
  TensorSignature signature(String name) {
    return entry(name).signature();
  }

  private Entry entry(String name) {
    return Objects.requireNonNull(entries.get(name), name);
  }

  /// It is used now.
  void touch(String name) {
    order.addLast(name);
  }

  /// Remembers one that is not known; returns who made room for it, if somebody had to.
  @Nullable String put(String name, TensorSignature signature) {
    if (capacity == 0) {
      return null;
    }
    String evicted = null;
    if (entries.size() == capacity) {
      evicted = order.getFirst();
      remove(evicted);
    }
    int slot = used.nextClearBit(0);
    used.set(slot);
    names[slot] = name;
    entries.put(name, new Entry(slot, signature));
    order.addLast(name);
    return evicted;
  }

  /// Forgets one that is known.
  void remove(String name) {
    int slot = slot(name);
    entries.remove(name);
    order.remove(name);
    used.clear(slot);
    names[slot] = null;
  }
}
