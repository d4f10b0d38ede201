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

/// The tensors that all ranks know, each by its slot number, so that one byte announces a ready
/// tensor. When the cache is full, the least recently used tensor is evicted. The cache is the same
/// on all ranks, because all make the same changes in the same order. Confined to one thread.
final class ResponseCache {

  private record Entry(int slot, TensorSignature signature) {}

  private final int capacity;
  private final Map<String, Entry> entries = new HashMap<>();

  /// The names, least recently used first.
  private final SequencedSet<String> order = new LinkedHashSet<>();

  private final @Nullable String[] names;
  private final BitSet used = new BitSet();

  /// @param capacity maximum number of tensors; 0 = no cache
  ResponseCache(int capacity) {
    this.capacity = capacity;
    this.names = new String[capacity];
  }

  /// Returns the highest slot in use plus one.
  int slots() {
    return used.length();
  }

  /// Returns the name of the tensor in this slot; null = the slot is empty.
  @Nullable String name(int slot) {
    return names[slot];
  }

  boolean has(String name) {
    return entries.containsKey(name);
  }

  int slot(String name) {
    return entry(name).slot();
  }

  TensorSignature signature(String name) {
    return entry(name).signature();
  }

  private Entry entry(String name) {
    return Objects.requireNonNull(entries.get(name), name);
  }

  /// Marks the tensor as used most recently.
  void touch(String name) {
    order.addLast(name);
  }

  /// Adds a tensor that is not cached. Returns the name of the evicted tensor; null = none.
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

  void remove(String name) {
    int slot = slot(name);
    entries.remove(name);
    order.remove(name);
    used.clear(slot);
    names[slot] = null;
  }
}
