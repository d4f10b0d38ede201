// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.perf.experiment.Contestant;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.PeerModule;
import io.weft.perf.report.RankReport;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A store in Java that Weft is compared with. Its client starts its server. Both are in module
/// weft-peers, on a separate class path, because their libraries conflict with TensorFlow's.
enum StorePeer implements KvPeer {
  /// Hazelcast, with one entry processor for all keys of a push.
  HAZELCAST("hazelcast", "io.weft.perf.peer.HazelcastPeer"),
  /// RocksDB behind Arrow Flight.
  FLIGHT_ROCKSDB("flight-rocksdb", "io.weft.perf.peer.FlightRocksPeer");

  private final String word;
  private final String program;

  StorePeer(String word, String program) {
    this.word = word;
    this.program = program;
  }

  @Override
  public String word() {
    return word;
  }

  @Override
  public void check(List<KvPlan> cases) {
    KvPlan plan = cases.getFirst();
    if (cases.size() != 1
        || plan.workers() != 1
        || plan.servers() != 1
        || plan.subject() instanceof KvPlan.Subject.Tensor) {
      throw new IllegalArgumentException(
          "--peer "
              + word
              + ": it runs with one worker and one server, and has no dense tensors; give --pairs"
              + " or --rows");
    }
  }

  @Override
  public void prepare() {
    String unused = classpath();
  }

  private String classpath() {
    return new PeerModule("weft-peers", program).classpath(word);
  }

  /// Returns the peer named on the command line. Throws `IllegalArgumentException` for an unknown
  /// name.
  static StorePeer parse(String word) {
    for (StorePeer each : values()) {
      if (each.word.equals(word)) {
        return each;
      }
    }
    throw new IllegalArgumentException(
        "--peer: unknown peer '" + word + "'; allowed: hazelcast, flight-rocksdb, ps-lite");
  }

  @Override
  public RankReport run(KvPlan plan, Duration limit) throws InterruptedException {
    List<String> command =
        new JavaProgram(
                program,
                classpath(),
                List.of("-Xmx4g", "--add-opens=java.base/java.nio=ALL-UNNAMED"))
            .command(plan.words());
    return RankReport.parse(
        Contestant.output("peer " + word, command, Map.of(), limit), List.of(KvPlan.CASE));
  }
}
