// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/// A parameter server of ranks in this process.
final class KvJob implements AutoCloseable {

  private final LocalJob job;
  private final KvOptions options;
  private final List<KeyValue> members;

  /// What a worker does.
  interface Body {
    void run(KeyValueStore store, Weft weft) throws Exception;
  }

  KvJob(String transport, int ranks, KvOptions options) {
    this(transport, ranks, options, it -> it);
  }

  KvJob(
      String transport, int ranks, KvOptions options, UnaryOperator<WeftConfig.Builder> settings) {
    this(transport, ranks, options, settings, rank -> options);
  }

  /// Where ranks differ in what need not be the same, as the deadline.
  KvJob(
      String transport,
      int ranks,
      KvOptions options,
      UnaryOperator<WeftConfig.Builder> settings,
      IntFunction<KvOptions> own) {
    this.job =
        LocalJob.start(ranks, settings.apply(WeftConfig.builder().transport(transport)).build());
    this.options = options;
    this.members = job.ranks().stream().map(it -> KeyValue.over(it, own.apply(it.rank()))).toList();
  }

  LocalJob job() {
    return job;
  }

  KeyValue member(int rank) {
    return members.get(rank);
  }

  /// On all workers at once.
  void onWorkers(Body body) {
    job.run(
        weft -> {
          if (options.workersOf(weft.size()).contains(weft.rank())) {
            body.run(members.get(weft.rank()).store(), weft);
          }
          return true;
        });
  }

  @Override
  public void close() {
    members.forEach(KeyValue::close);
    job.close();
  }
}
