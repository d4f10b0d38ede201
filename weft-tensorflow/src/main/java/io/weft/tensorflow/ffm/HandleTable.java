// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Objects that TensorFlow holds, by the number it holds instead of a pointer: position + 1, so
/// never 0. A number is used again once its object was removed. Thread-safe; `get` takes no lock.
public final class HandleTable<T> {

  private final String noun;

  /// Written under the lock and then assigned to itself, which publishes the elements to readers.
  private volatile @Nullable Object[] slots = new Object[64];

  /// The positions that are free and lie below `used`, a stack.
  private int[] free = new int[64];

  private int freed;
  private int used;
  private long everAdded;

  /// @param noun what the objects are, for messages
  public HandleTable(String noun) {
    this.noun = noun;
  }

  /// The object's number.
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

  /// Throws `IllegalStateException` if the number is of no object, or of none any more.
  ///
  /// Hot path.
  @SuppressWarnings("unchecked") // nothing else was added
  public T get(long number) {
    @Nullable Object[] current = slots;
    Object object = number > 0 && number <= current.length ? current[(int) number - 1] : null;
    if (object == null) {
      throw new IllegalStateException(noun + " " + number + " is not there, or not any more");
    }
    return (T) object;
  }

  /// Forgets the object, which TensorFlow does not use any more.
  public synchronized T remove(long number) {
    T object = get(number);
    slots[(int) number - 1] = null;
    free[freed++] = (int) number - 1;
    return object;
  }

  /// Each object that is there.
  @SuppressWarnings("unchecked") // nothing else was added
  public synchronized void forEach(Consumer<? super T> action) {
    for (Object object : slots) {
      if (object != null) {
        action.accept((T) object);
      }
    }
  }

  /// Objects added and not yet removed.
  public synchronized int live() {
    return used - freed;
  }

  /// Objects ever added.
  public synchronized long everAdded() {
    return everAdded;
  }
}
