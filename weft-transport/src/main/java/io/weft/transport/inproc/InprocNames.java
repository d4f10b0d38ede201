// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.TransportException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The names of all open in-process transports of this JVM, the only state shared across the JVM.
/// Thread-safe.
final class InprocNames {

  private static final InprocNames PROCESS = new InprocNames();

  private final ConcurrentMap<String, InprocTransport> open = new ConcurrentHashMap<>();
  private final AtomicLong last = new AtomicLong();

  private InprocNames() {}

  static InprocNames ofProcess() {
    return PROCESS;
  }

  /// Returns the full name for `bind`, with a fresh number unless `bind` has one.
  String complete(String bind) {
    return bind.indexOf(':') >= 0 ? bind : bind + ":" + last.incrementAndGet();
  }

  /// Registers the name. Throws `TransportException.DeviceLost` if it is taken.
  void enter(String name, InprocTransport transport) {
    if (open.putIfAbsent(name, transport) != null) {
      throw new TransportException.DeviceLost(
          "cannot listen on inproc:"
              + name
              + ": address already in use; choose another number, or none to have one chosen",
          null);
    }
  }

  @Nullable InprocTransport find(String name) {
    return open.get(name);
  }

  void leave(String name, InprocTransport transport) {
    open.remove(name, transport);
  }
}
