// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvWorker;
import io.weft.observer.OperationObserver;
import io.weft.testkit.job.LocalJob;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.UnaryOperator;

/// A job of servers followed by workers, in this process.
public final class EmbeddingJob implements AutoCloseable {

  private final LocalJob job;
  private final int servers;
  private final List<KvNode> members;

  /// The body of a worker.
  public interface Body<T> {
    T run(KvWorker worker, Weft weft) throws Exception;
  }

  public EmbeddingJob(String transport, int servers, int workers) {
    this(transport, servers, workers, it -> it);
  }

  EmbeddingJob(
      String transport, int servers, int workers, UnaryOperator<WeftConfig.Builder> settings) {
    this.servers = servers;
    this.job =
        LocalJob.start(
            servers + workers, settings.apply(WeftConfig.builder().transport(transport)).build());
    this.members =
        job.ranks().stream().map(it -> KvNode.open(it, KvOptions.servers(servers))).toList();
  }

  /// Runs the body on all workers concurrently and returns the results in the order of ranks.
  public <T> List<T> onWorkers(Body<T> body) {
    var results = new ConcurrentSkipListMap<Integer, T>();
    job.run(
        weft -> {
          if (weft.rank() >= servers) {
            results.put(weft.rank(), body.run(members.get(weft.rank()).worker(), weft));
          }
          return true;
        });
    return new ArrayList<>(results.values());
  }

  /// Adds an observer of a rank's operations.
  void observe(int rank, OperationObserver observer) {
    job.ranks().get(rank).observe(observer);
  }

  /// Closes a server, so that the others lose it.
  public void lose(int server) {
    job.ranks().get(server).close();
  }

  @Override
  public void close() {
    members.forEach(KvNode::close);
    job.close();
  }
}
