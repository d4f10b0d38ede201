// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.file.ForeignFile;
import io.weft.perf.experiment.Contestant;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.RankReport;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A store in Java that Weft is compared with. Its client starts its server. Both are in module
/// weft-peers, on a separate class path, because their libraries conflict with TensorFlow's.
enum StorePeer implements KvPeer {
  /// Hazelcast, with one entry processor for all keys of a push.
  HAZELCAST("hazelcast", "io.weft.perf.peer.HazelcastPeer"),
  /// RocksDB behind Arrow Flight.
  FLIGHT_ROCKSDB("flight-rocksdb", "io.weft.perf.peer.FlightRocksPeer");

  private static final String MODULE = "weft-peers";
  private static final int MOST_BYTES = 1 << 20;

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

  private String classpath() {
    String own = System.getProperty("java.class.path");
    return isHere() ? own : built().orElseThrow(this::missing);
  }

  private boolean isHere() {
    try {
      return Class.forName(program, false, StorePeer.class.getClassLoader()) != null;
    } catch (ClassNotFoundException elsewhere) {
      return false;
    }
  }

  /// Returns the class path in the tree from which this class was built.
  private static Optional<String> built() {
    try {
      Path own =
          Path.of(StorePeer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      // This class is in TREE/weft-perf/target/classes, or in a jar in TREE/weft-perf/target.
      Path target = own.resolve("../../..").normalize().resolve(MODULE).resolve("target");
      Path libraries = target.resolve("classpath");
      return Files.isRegularFile(libraries)
          ? Optional.of(
              target.resolve("classes")
                  + ":"
                  + ForeignFile.named(libraries).text(MOST_BYTES).strip())
          : Optional.empty();
    } catch (IOException | URISyntaxException e) {
      return Optional.empty();
    }
  }

  private PerfException.Missing missing() {
    return new PerfException.Missing(
        "peer "
            + word
            + " is not built; in Weft's source tree: mvn -q -pl "
            + MODULE
            + " -am package -DskipTests");
  }
}
