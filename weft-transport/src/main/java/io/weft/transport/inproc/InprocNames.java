// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.inproc;

import io.weft.transport.TransportException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The name space of open in-process transports: what the network's addresses are to TCP. It is the
/// one thing that all of a JVM shares. Any thread.
final class InprocNames {

  private static final InprocNames PROCESS = new InprocNames();

  private final ConcurrentMap<String, InprocTransport> open = new ConcurrentHashMap<>();
  private final AtomicLong last = new AtomicLong();

  private InprocNames() {}

  static InprocNames ofProcess() {
    return PROCESS;
  }

  /// The full name for `bind`: as it is if it has a number, otherwise with a fresh one.
  String complete(String bind) {
    return bind.indexOf(':') >= 0 ? bind : bind + ":" + last.incrementAndGet();
  }

  /// Throws `TransportException.DeviceLost` if the name is taken.
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
