// SPDX-License-Identifier: Apache-2.0
package io.weft;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The objects that layers above attach to a `Weft` for its lifetime, at most one per type. Any
/// thread.
final class Attachments {

  private static final Logger LOG = LoggerFactory.getLogger(Attachments.class);

  /// The attached objects in creation order. Guarded by this object's monitor, which is reentrant
  /// because an object may attach another one while it is created.
  private final SequencedMap<Class<?>, AutoCloseable> attached = new LinkedHashMap<>();

  private boolean closed;

  /// Returns the object of this type; the first call creates it by `open`. Throws
  /// `IllegalStateException` after `close`.
  synchronized <T extends AutoCloseable> T of(Class<T> type, Supplier<T> open) {
    if (closed) {
      throw new IllegalStateException(
          "cannot attach " + type.getSimpleName() + " to a Weft that is closed");
    }
    AutoCloseable known = attached.get(type);
    if (known != null) {
      return type.cast(known);
    }
    T made = open.get();
    attached.put(type, made);
    return made;
  }

  /// Closes all objects, the latest first. A second call has no effect.
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
