// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/// The most recently used key lists of a table, so that repeated keys are cut once. Any thread.
public final class KeyListCache {

  private final Map<Long, KeyList> lists;

  /// @param most the maximum number of lists
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

  /// Returns the list of these keys: the cached one if there is one, otherwise the result of `cut`.
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

  /// Returns a hash of a few keys, which distinguishes most lists. `isOf` decides.
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
