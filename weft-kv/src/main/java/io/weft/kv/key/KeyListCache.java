// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/// The lists that a table has used last, so that keys that repeat are cut once. Any thread.
public final class KeyListCache {

  private final Map<Long, KeyList> lists;

  /// @param most how many are kept
  public KeyListCache(int most) {
    lists =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<Long, KeyList> eldest) {
            return size() > most;
          }
        };
  }

  /// The list of these keys: the one that is known, else the one that `cut` makes.
  public KeyList of(long[] keys, Function<long[], KeyList> cut) {
    long sample = sample(keys);
    synchronized (lists) {
      KeyList known = lists.get(sample);
      if (known != null && known.isOf(keys)) {
        return known;
      }
    }
    KeyList made = cut.apply(keys);
    synchronized (lists) {
      lists.put(sample, made);
    }
    return made;
  }

  /// Of a few keys: tells most lists apart; `isOf` decides.
  private static long sample(long[] keys) {
    long hash = keys.length;
    int step = Math.max(1, keys.length / 16);
    for (int i = 0; i < keys.length; i += step) {
      hash = (hash ^ keys[i]) * 0x9e3779b97f4a7c15L;
      hash ^= hash >>> 29;
    }
    return hash;
  }
}
