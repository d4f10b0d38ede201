// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.cluster.Store;
import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The job's store in virtual time, always reachable like a launcher's store. A new value reaches
/// waiting processes after a short delay; reads of existing values take no time.
final class SimStore {

  private static final long NEWS_NANOS = 200_000;

  private final Map<String, byte[]> values = new HashMap<>();
  private final List<Waiting> waiting = new ArrayList<>();

  private record Waiting(SimProcess process, String key) {}

  /// Returns a process's view of the store.
  Store of(SimProcess process) {
    return new View(process);
  }

  /// Returns the view of a process that remembers the first topology. It sees the values of others
  /// except its rank's member entry, and no other process sees its values.
  Store rememberedBy(SimProcess process) {
    return new Memory(process);
  }

  private void put(SimProcess process, String key, byte[] value) {
    values.put(key, value.clone());
    Iterator<Waiting> each = waiting.iterator();
    while (each.hasNext()) {
      Waiting next = each.next();
      if (next.key.equals(key)) {
        each.remove();
        next.process.simThread().resumeAt(process.events().now() + NEWS_NANOS);
      }
    }
  }

  private class View implements Store {
    final SimProcess process;

    View(SimProcess process) {
      this.process = process;
    }

    @Override
    public void put(String key, byte[] value) {
      process.requireOwnThread();
      SimStore.this.put(process, key, value);
    }

    @Override
    public boolean putIfAbsent(String key, byte[] value) {
      process.requireOwnThread();
      boolean absent = find(key).isEmpty();
      if (absent) {
        put(key, value);
      }
      return absent;
    }

    @Override
    public boolean compareAndSet(String key, byte[] expected, byte[] value) {
      process.requireOwnThread();
      boolean same = find(key).filter(now -> Arrays.equals(now, expected)).isPresent();
      if (same) {
        put(key, value);
      }
      return same;
    }

    @Override
    public void remove(String key) {
      process.requireOwnThread();
      values.remove(key);
    }

    @Override
    public byte[] get(String key, Duration timeout) throws InterruptedException {
      return await(key, null, timeout)
          .orElseThrow(
              () ->
                  new CommException.Setup(
                      "no rank put '"
                          + key
                          + "' into the simulated store within "
                          + ClampedDuration.millis(timeout) / 1000.0
                          + " s",
                      null));
    }

    @Override
    public Optional<byte[]> awaitChange(String key, byte[] known, Duration timeout)
        throws InterruptedException {
      return await(key, known, timeout);
    }

    private Optional<byte[]> await(String key, byte @Nullable [] known, Duration timeout) {
      process.requireOwnThread();
      long end = process.nanos() + ClampedDuration.nanos(timeout);
      Optional<byte[]> found = find(key);
      while (found.isEmpty() || Arrays.equals(found.get(), known)) {
        if (process.nanos() - end >= 0) {
          return Optional.empty();
        }
        Waiting self = new Waiting(process, key);
        waiting.add(self);
        process.block(process.moment(end));
        waiting.remove(self);
        found = find(key);
      }
      return found;
    }

    @Override
    public Optional<byte[]> find(String key) {
      return Optional.ofNullable(values.get(key)).map(byte[]::clone);
    }

    @Override
    public void close() {}
  }

  private final class Memory extends View {
    private final Map<String, byte[]> own = new HashMap<>();

    Memory(SimProcess process) {
      super(process);
    }

    @Override
    public void put(String key, byte[] value) {
      own.put(key, value.clone());
    }

    @Override
    public Optional<byte[]> find(String key) {
      if (own.containsKey(key)) {
        return Optional.of(own.get(key).clone());
      }
      return key.endsWith("/member/" + process.rank()) ? Optional.empty() : super.find(key);
    }
  }
}
