// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.table;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// A map from `long` that does not box: open addressing, linear probing. Confined to one thread.
public final class LongMap<V> {

  private long[] keys = new long[64];
  private @Nullable Object[] values = new Object[64];
  private int size;

  /// Returns the number of keys.
  public int size() {
    return size;
  }

  /// Returns the value of a key, or null.
  ///
  /// Hot path.
  @SuppressWarnings("unchecked") // only put writes values, and only a V
  public @Nullable V get(long key) {
    return (V) values[find(key)];
  }

  /// Sets the value of a key.
  public void put(long key, V value) {
    Objects.requireNonNull(value);
    int at = find(key);
    if (values[at] == null) {
      size++;
    }
    keys[at] = key;
    values[at] = value;
    if (size * 2 > keys.length) {
      grow();
    }
  }

  /// Removes a key; returns its value, or null if there was none.
  public @Nullable V remove(long key) {
    int at = find(key);
    V old = get(key);
    if (old == null) {
      return null;
    }
    size--;
    int hole = at;
    int mask = keys.length - 1;
    for (int i = (at + 1) & mask; values[i] != null; i = (i + 1) & mask) {
      int home = slot(keys[i]);
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        keys[hole] = keys[i];
        values[hole] = values[i];
        hole = i;
      }
    }
    values[hole] = null;
    return old;
  }

  /// Passes all values to `action`, which may change the map.
  @SuppressWarnings("unchecked") // as in get
  public void forEach(Consumer<? super V> action) {
    Objects.requireNonNull(action);
    for (Object value : values.clone()) {
      if (value != null) {
        action.accept((V) value);
      }
    }
  }

  /// Removes all values that match. Scans the whole map.
  @SuppressWarnings("unchecked") // as in get
  public void removeIf(Predicate<? super V> unwanted) {
    Objects.requireNonNull(unwanted);
    long[] oldKeys = keys.clone();
    Object[] oldValues = values.clone();
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldValues[i] != null && unwanted.test((V) oldValues[i])) {
        var unused = remove(oldKeys[i]);
      }
    }
  }

  /// Removes all keys.
  public void clear() {
    Arrays.fill(values, null);
    size = 0;
  }

  private int find(long key) {
    int mask = keys.length - 1;
    int at = slot(key);
    while (values[at] != null && keys[at] != key) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private int slot(long key) {
    long h = key * 0x9E3779B97F4A7C15L;
    return (int) (h >>> 40) & (keys.length - 1);
  }

  private void grow() {
    long[] oldKeys = keys;
    Object[] oldValues = values;
    keys = new long[oldKeys.length * 2];
    values = new Object[oldKeys.length * 2];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldValues[i] != null) {
        int at = find(oldKeys[i]);
        keys[at] = oldKeys[i];
        values[at] = oldValues[i];
      }
    }
  }
}
