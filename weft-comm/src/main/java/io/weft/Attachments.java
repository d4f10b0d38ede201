// SPDX-License-Identifier: Apache-2.0
package io.weft;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The objects of layers above that live as long as a `Weft`: one of each type. Any thread.
final class Attachments {

  private static final Logger LOG = LoggerFactory.getLogger(Attachments.class);

  /// In the order in which they were made. Guarded by this, which is reentrant: one may attach
  /// another while it is made.
  private final SequencedMap<Class<?>, AutoCloseable> attached = new LinkedHashMap<>();

  private boolean closed;

  /// Returns the object of this type, made by `open` at the first call.
  synchronized <T extends AutoCloseable> T of(Class<T> type, Supplier<T> open) {
    if (closed) {
      throw new IllegalStateException(
          "there is no " + type.getSimpleName() + " of a Weft that is closed");
    }
    AutoCloseable known = attached.get(type);
    if (known != null) {
      return type.cast(known);
    }
    T made = open.get();
    attached.put(type, made);
    return made;
  }

  /// Closes all, the latest first. A second call has no effect.
  void close() {
    SequencedMap<Class<?>, AutoCloseable> all;
    synchronized (this) {
      closed = true;
      all = new LinkedHashMap<>(attached);
      attached.clear();
    }
    for (AutoCloseable each : all.sequencedValues().reversed()) {
      try {
        each.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        LOG.warn("{} did not close: {}", each.getClass().getSimpleName(), e.toString());
      }
    }
  }
}
