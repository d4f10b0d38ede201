// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rocksdb;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.kv.KvConfig;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvWorker;
import io.weft.testkit.job.LocalJob;
import java.nio.file.Path;
import java.util.List;

/// Servers that spill rows to disk, and workers, as ranks of this process.
final class SpillJob implements AutoCloseable {

  private final LocalJob job;
  private final int servers;
  private final List<KvNode> members;

  /// The program of a worker.
  interface Body {
    void run(KvWorker worker, Weft weft) throws Exception;
  }

  /// @param memory the memory budget of all tables of a server
  SpillJob(int ranks, KvOptions options, Path directory, String memory) {
    this.job =
        LocalJob.start(
            ranks,
            WeftConfig.builder()
                .transport("tcp")
                .set(KvConfig.SHARDS, "3")
                .set(KvConfig.MEMORY, memory)
                .set(KvConfig.SPILL_CACHE, "8M")
                .set(KvConfig.SPILL_DIRECTORY, directory.toString())
                .build());
    this.servers = options.servers();
    this.members = job.ranks().stream().map(it -> KvNode.open(it, options)).toList();
  }

  List<Weft> ranks() {
    return job.ranks();
  }

  /// Runs `body` on all workers at the same time.
  void onWorkers(Body body) {
    job.run(
        weft -> {
          if (weft.rank() >= servers) {
            body.run(members.get(weft.rank()).worker(), weft);
          }
          return true;
        });
  }

  @Override
  public void close() {
    members.forEach(KvNode::close);
    job.close();
  }
}
