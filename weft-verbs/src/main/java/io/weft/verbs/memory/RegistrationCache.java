// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.verbs.device.Registration;
import io.weft.verbs.ffm.ResourceCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A cache of registrations of foreign memory for later regions of the same memory. The scope of a
/// segment identifies the memory: a registration serves only segments of the same scope, and none
/// after the scope has ended. A reused address has another scope. The cache keeps neither memory
/// nor scope alive. Memory of the global scope may end unnoticed, so that it stays registered only
/// while regions are open. Thread-safe.
final class RegistrationCache {

  private static final int MAX_IDLE = 1024;

  private final Registrar registrar;
  private final ReentrantLock lock;
  private final long maxIdleBytes;
  private final TreeMap<Long, Entry> byAddress = new TreeMap<>();
  // The longest unused entry first.
  private final LinkedHashSet<Entry> idle = new LinkedHashSet<>();
  private long idleBytes;
  private long hits;

  /// @param lock also held during calls of the registrar
  /// @param maxIdleBytes bound of idle registered memory
  RegistrationCache(Registrar registrar, ReentrantLock lock, long maxIdleBytes) {
    this.registrar = registrar;
    this.lock = lock;
    this.maxIdleBytes = maxIdleBytes;
  }

  /// Returns a registration that covers native memory whose scope is alive. Throws
  /// `VerbsException`.
  Holding register(MemorySegment memory) {
    lock.lock();
    try {
      Map.Entry<Long, Entry> before = byAddress.floorEntry(memory.address());
      if (before != null && before.getValue().serves(memory)) {
        Entry entry = before.getValue();
        hits++;
        wake(entry);
        entry.users++;
        return new Use(this, entry, memory);
      }
      sweep();
      Entry entry = new Entry(registrar.register(ResourceCalls.withoutScope(memory)), memory);
      entry.users = 1;
      Entry replaced = byAddress.put(memory.address(), entry);
      if (replaced != null) {
        replaced.isListed = false;
        endIfIdle(replaced);
      }
      return new Use(this, entry, memory);
    } finally {
      lock.unlock();
    }
  }

  /// Returns the count of requests that an existing registration served.
  long hits() {
    lock.lock();
    try {
      return hits;
    } finally {
      lock.unlock();
    }
  }

  private void released(Entry entry) {
    entry.users--;
    if (entry.users > 0) {
      return;
    }
    if (entry.isListed && entry.isKept && entry.isAlive()) {
      idle.add(entry);
      idleBytes += entry.bytes();
      evict(maxIdleBytes, MAX_IDLE);
    } else {
      end(entry);
    }
  }

  private void wake(Entry entry) {
    if (idle.remove(entry)) {
      idleBytes -= entry.bytes();
    }
  }

  private void endIfIdle(Entry entry) {
    if (idle.remove(entry)) {
      idleBytes -= entry.bytes();
      end(entry);
    }
  }

  private void end(Entry entry) {
    if (entry.isListed) {
      entry.isListed = false;
      byAddress.remove(entry.registration.memory().address());
    }
    entry.registration.close();
  }

  /// Ends registrations of freed memory.
  private void sweep() {
    for (Iterator<Entry> i = idle.iterator(); i.hasNext(); ) {
      Entry entry = i.next();
      if (!entry.isAlive()) {
        i.remove();
        idleBytes -= entry.bytes();
        end(entry);
      }
    }
  }

  private long evict(long mostBytes, int most) {
    long before = idleBytes;
    while (idleBytes > mostBytes || idle.size() > most) {
      Entry entry = idle.removeFirst();
      idleBytes -= entry.bytes();
      end(entry);
    }
    return before - idleBytes;
  }

  /// Ends all idle registrations; returns their bytes.
  long reclaim() {
    lock.lock();
    try {
      return evict(0, 0);
    } finally {
      lock.unlock();
    }
  }

  /// One registration with its count of users. Guarded by the cache's lock.
  private static final class Entry {
    private final Registration registration;
    private final WeakReference<MemorySegment.Scope> scope;
    private final boolean isKept;
    private int users;
    private boolean isListed = true;

    Entry(Registration registration, MemorySegment memory) {
      this.registration = registration;
      scope = new WeakReference<>(memory.scope());
      isKept = !memory.scope().equals(Arena.global().scope());
    }

    long bytes() {
      return registration.memory().byteSize();
    }

    boolean isAlive() {
      MemorySegment.Scope some = scope.get();
      return some != null && some.isAlive();
    }

    boolean serves(MemorySegment memory) {
      MemorySegment.Scope some = scope.get();
      long offset = memory.address() - registration.memory().address();
      return some != null
          && some.equals(memory.scope())
          && some.isAlive()
          && offset <= bytes() - memory.byteSize();
    }
  }

  private record Use(RegistrationCache cache, Entry entry, MemorySegment memory)
      implements Holding {

    @Override
    public Registration registration() {
      return entry.registration;
    }

    @Override
    public @Nullable PoolBlock block() {
      return null;
    }

    @Override
    public void release() {
      cache.lock.lock();
      try {
        cache.released(entry);
      } finally {
        cache.lock.unlock();
      }
    }
  }
}
