// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/// A parameter server whose ranks run in this process.
final class KvJob implements AutoCloseable {

  private final LocalJob job;
  private final KvOptions options;
  private final List<KvNode> members;

  /// The program of a worker.
  interface Body {
    void run(KvWorker worker, Weft weft) throws Exception;
  }

  KvJob(String transport, int ranks, KvOptions options) {
    this(transport, ranks, options, it -> it);
  }

  KvJob(
      String transport, int ranks, KvOptions options, UnaryOperator<WeftConfig.Builder> settings) {
    this(transport, ranks, options, settings, rank -> options);
  }

  /// Starts a job whose ranks may differ in options that need not be equal, such as the deadline.
  KvJob(
      String transport,
      int ranks,
      KvOptions options,
      UnaryOperator<WeftConfig.Builder> settings,
      IntFunction<KvOptions> own) {
    this.job =
        LocalJob.start(ranks, settings.apply(WeftConfig.builder().transport(transport)).build());
    this.options = options;
    this.members = job.ranks().stream().map(it -> KvNode.open(it, own.apply(it.rank()))).toList();
  }

  LocalJob job() {
    return job;
  }

  KvNode member(int rank) {
    return members.get(rank);
  }

  /// Runs `body` on all workers at the same time.
  void onWorkers(Body body) {
    job.run(
        weft -> {
          if (options.workersOf(weft.size()).contains(weft.rank())) {
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
