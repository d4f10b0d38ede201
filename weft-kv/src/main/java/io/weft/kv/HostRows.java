// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A host's view of a table of rows. The rows of all its workers are pushed in one request, and
/// pulled in one. One thread.
final class HostRows {

  private final Weft weft;
  private final String name;
  private final int width;
  private final Communicator host;
  private final @Nullable KvTable servers;
  private Optional<Pushed> pushed = Optional.empty();

  /// A push in progress and the memory that it reads.
  private record Pushed(Handle<Void> handle, TensorLease values) {}

  /// @param host the communicator of the host's workers
  /// @param servers null if another worker of the host communicates with the servers
  HostRows(Weft weft, String name, int width, Communicator host, @Nullable KvTable servers) {
    this.weft = weft;
    this.name = name;
    this.width = width;
    this.host = host;
    this.servers = servers;
  }

  void push(long[] ids, float[] values) throws InterruptedException {
    check("values", ids, values);
    flush();
    long[] all = gathered(ids);
    try (TensorLease own = weft.allocate(DType.FLOAT32, Shape.of(ids.length, width))) {
      MemorySegment.copy(
          values, 0, own.view().data(), ValueLayout.JAVA_FLOAT_UNALIGNED, 0, values.length);
      TensorLease joined = host.allgather(own.view(), named("values")).await();
      if (servers == null) {
        joined.close();
        return;
      }
      try {
        pushed =
            Optional.of(new Pushed(servers.push(servers.keys(all), joined.view().data()), joined));
      } catch (InterruptedException | RuntimeException refused) {
        joined.close();
        throw refused;
      }
    }
  }

  void pull(long[] ids, float[] into) throws InterruptedException {
    check("place", ids, into);
    long[] counts = gathered(new long[] {ids.length});
    long[] all = gathered(ids);
    if (all.length == 0) {
      return;
    }
    try (TensorLease found = weft.allocate(DType.FLOAT32, Shape.of(all.length, width))) {
      TensorView view = found.view();
      if (servers != null) {
        try {
          var unused = servers.pull(servers.keys(all), view.data()).await();
        } catch (RuntimeException failed) {
          host.abort(KVStore.cause(name, failed));
          throw failed;
        }
      }
      var unusedRows = host.broadcast(view, 0, named("rows")).await();
      long before = 0;
      for (int rank = 0; rank < host.rank(); rank++) {
        before += counts[rank];
      }
      MemorySegment.copy(
          view.data(), ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * width * before, into, 0, into.length);
    }
  }

  /// Frees the memory of the previous push as soon as that push has completed.
  void close() {
    pushed.ifPresent(
        before -> before.handle().whenDone((nothing, cause) -> before.values().close()));
  }

  /// Waits until the servers have received the previous push.
  void flush() throws InterruptedException {
    if (pushed.isPresent()) {
      Pushed before = pushed.get();
      pushed = Optional.empty();
      try {
        var unused = before.handle().await();
      } catch (CommException failed) {
        host.abort(failed); // because the other workers of the host would wait for this worker
        throw failed;
      } finally {
        before.values().close();
      }
    }
  }

  /// Returns the values of all workers of the host, in the order of ranks.
  private long[] gathered(long[] mine) throws InterruptedException {
    try (TensorLease own = weft.allocate(DType.INT64, Shape.of(mine.length))) {
      MemorySegment.copy(
          mine, 0, own.view().data(), ValueLayout.JAVA_LONG_UNALIGNED, 0, mine.length);
      try (TensorLease all = host.allgather(own.view(), named("ids")).await()) {
        return all.view().data().toArray(ValueLayout.JAVA_LONG_UNALIGNED);
      }
    }
  }

  private CollectiveOptions named(String what) {
    return CollectiveOptions.named("kvstore/" + what + "/" + name);
  }

  private void check(String what, long[] ids, float[] memory) {
    if (memory.length != (long) width * ids.length) {
      throw new IllegalArgumentException(
          "rows '%s': %s of %d floats for %d ids of %d floats"
              .formatted(name, what, memory.length, ids.length, width));
    }
  }
}
