// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Objects that TensorFlow references by number instead of by pointer. A number is position + 1, so
/// it is never 0, and is reused after its object was removed. Thread-safe; `get` takes no lock.
public final class HandleTable<T> {

  private final String noun;

  /// Written under the lock and then assigned to itself, which publishes the elements to readers.
  private volatile @Nullable Object[] slots = new Object[64];

  /// The free positions below `used`, a stack.
  private int[] free = new int[64];

  private int freed;
  private int used;
  private long everAdded;

  /// @param noun the kind of the objects, for messages
  public HandleTable(String noun) {
    this.noun = noun;
  }

  /// Adds an object and returns its number.
  public synchronized long add(T object) {
    @Nullable Object[] current = slots;
    int at = freed > 0 ? free[--freed] : used++;
    if (at == current.length) {
      current = Arrays.copyOf(current, 2 * at);
      free = Arrays.copyOf(free, 2 * at);
    }
    current[at] = object;
    slots = current;
    everAdded++;
    return at + 1L;
  }

  /// Throws `IllegalStateException` if the number has no object or its object was removed.
  ///
  /// Hot path.
  @SuppressWarnings("unchecked") // add accepts only T
  public T get(long number) {
    @Nullable Object[] current = slots;
    Object object = number > 0 && number <= current.length ? current[(int) number - 1] : null;
    if (object == null) {
      throw new IllegalStateException(noun + " " + number + " does not exist, or was removed");
    }
    return (T) object;
  }

  /// Removes an object that TensorFlow no longer uses.
  public synchronized T remove(long number) {
    T object = get(number);
    slots[(int) number - 1] = null;
    free[freed++] = (int) number - 1;
    return object;
  }

  /// Applies `action` to each present object.
  @SuppressWarnings("unchecked") // add accepts only T
  public synchronized void forEach(Consumer<? super T> action) {
    for (Object object : slots) {
      if (object != null) {
        action.accept((T) object);
      }
    }
  }

  /// Returns the number of objects added and not yet removed.
  public synchronized int live() {
    return used - freed;
  }

  /// Returns the number of objects ever added.
  public synchronized long everAdded() {
    return everAdded;
  }
}
