// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// This rank's part in a parameter server: its worker side, its server side, or both. All ranks
/// must create it with the same options.
///
/// ```java
/// try (Weft weft = Weft.init();
///     KvNode kv = KvNode.open(weft, KvOptions.servers(1))) {
///   if (kv.serve()) {
///     return; // a server whose workers have left
///   }
///   KvTable table = kv.worker().register(TableSpec.rows("embedding", 64).withRule("adagrad"));
///   table.push(keys, gradients).await();
///   table.pull(keys, values).await();
/// }
/// ```
///
/// Any thread.
public final class KvNode implements AutoCloseable {

  /// A limit that no wait reaches, because each worker leaves or is declared lost.
  private static final Duration FOREVER = Duration.ofDays(365);

  private final @Nullable KvServer server;
  private final @Nullable KvWorker worker;

  private KvNode(@Nullable KvServer server, @Nullable KvWorker worker) {
    this.server = server;
    this.worker = worker;
  }

  /// Starts the server on this rank, if it is a server rank, with its own threads. In a process
  /// that joined the job after its start (setting `join`), this rank takes the place of a lost
  /// server, and its shards are copied to it while the workers continue. Throws
  /// `IllegalArgumentException` if no rank is left to be a worker, or if this process has joined
  /// and shards have no mirrors. Throws `CommException.Setup` if another rank has other options, or
  /// if this process has joined and no server is lost.
  public static KvNode open(Weft weft, KvOptions options) {
    return open(weft, options, KvServer.RunBy.THREADS);
  }

  /// Starts the server on its own threads or on those of the program. With `RunBy.PROGRAM` the
  /// program must call `KvServer.work` or `join` on a server rank.
  public static KvNode open(Weft weft, KvOptions options, KvServer.RunBy runBy) {
    Objects.requireNonNull(runBy, "runBy");
    if (options.levels() == KvOptions.Levels.ONE) {
      List<Integer> all = options.workersOf(weft.size());
      return open(weft, options, new HostLayout(all, List.of()), runBy);
    }
    HostLayout hosts = HostLayout.of(weft.topology(), weft.size(), options.servers(), weft.rank());
    return open(weft, options, hosts, runBy);
  }

  /// Starts the server for a subset of the worker ranks.
  static KvNode open(Weft weft, KvOptions options, List<Integer> workers) {
    return open(weft, options, new HostLayout(workers, List.of()), KvServer.RunBy.THREADS);
  }

  private static KvNode open(Weft weft, KvOptions options, HostLayout hosts, KvServer.RunBy runBy) {
    Layout layout = Layout.of(weft, options, hosts.leaders());
    KvOptionsCheck.check(weft, layout, options);
    if (weft.rank() >= weft.size()) {
      return returning(weft, layout, options, runBy);
    }
    KvServer server =
        layout.servers().contains(weft.rank())
            ? new KvServer(weft, layout, options, runBy, null)
            : null;
    boolean works = layout.workers().contains(weft.rank()) || !hosts.mine().isEmpty();
    KvWorker worker = works ? new KvWorker(weft, layout, options, hosts.mine(), server) : null;
    return new KvNode(server, worker);
  }

  /// Makes this process, which joined after the job began, take the place of a lost server.
  static KvNode returning(Weft weft, Layout layout, KvOptions options, KvServer.RunBy runBy) {
    Duration limit = options.limit(weft);
    if (!layout.replicas().isMirrored()) {
      throw new IllegalArgumentException(
          "rank %d has joined a job whose shards have no mirrors: a lost server's data is lost; use KvOptions.withMirrors"
              .formatted(weft.rank()));
    }
    try {
      ServerPlace place = ServerPlace.take(weft, layout, options.application(), limit);
      var server = new KvServer(weft, layout, options, runBy, place);
      place.tell(weft, layout, limit);
      return new KvNode(server, null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommException.Setup("interrupted while it took the place of a server", e);
    }
  }

  static LongFunction<TensorLease> staging(Weft weft) {
    return bytes -> weft.allocate(DType.UINT8, Shape.of(bytes));
  }

  /// Returns the server side, or empty if this rank is only a worker.
  public Optional<KvServer> server() {
    return Optional.ofNullable(server);
  }

  /// Serves until all workers have left or are lost, if this rank is only a server, and returns
  /// true. Returns false at once on every rank that is a worker. If the program's thread serves the
  /// shards, the calling thread serves them. Throws `CommException.Excluded` if the other ranks
  /// have excluded this server.
  public boolean serve() throws InterruptedException {
    if (server == null || worker != null) {
      return false;
    }
    boolean unused = server.join(FOREVER);
    return true;
  }

  /// Returns the worker side. Throws `IllegalStateException` if this rank is only a server.
  public KvWorker worker() {
    if (worker == null) {
      throw new IllegalStateException(
          "this rank is a server: only workers push and pull; see KvOptions.servers");
    }
    return worker;
  }

  /// Stops the server's threads, if any.
  @Override
  public void close() {
    if (server != null) {
      server.close();
    }
  }
}
