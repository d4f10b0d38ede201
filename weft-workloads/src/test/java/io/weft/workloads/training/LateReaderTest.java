// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.workloads.collisions.HiggsFiles;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.PartReader;
import io.weft.workloads.data.ReadProgress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that ranks wait for a rank that reads for longer than the deadline of operations.
@Timeout(60)
class LateReaderTest {

  private static final Duration DEADLINE = Duration.ofSeconds(3);
  private static final long READING_NANOS = TimeUnit.SECONDS.toNanos(4);

  @TempDir private Path directory;

  @Test
  void ranksWaitForARankThatReadsItsPart() throws Exception {
    String line = "1.0" + ",0.5".repeat(28) + "\n";
    Files.writeString(directory.resolve("HIGGS.csv"), line.repeat(203));
    assertReadOnBoth(new HiggsFiles(directory), ReadMode.SHARDED, 1);
  }

  @Test
  void ranksWaitForARankThatReadsAll() {
    assertReadOnBoth(Runs.DIGITS, ReadMode.SHARDED, 1);
  }

  @Test
  void ranksWaitForTheRankThatReadsForAll() {
    assertReadOnBoth(Runs.DIGITS, ReadMode.ROOT, 0);
  }

  private static void assertReadOnBoth(DataSource source, ReadMode mode, int late) {
    WeftConfig config = WeftConfig.builder().transport("inproc").deadline(DEADLINE).build();
    TrainingSettings settings = Runs.settings(1);
    settings = Runs.with(settings, settings.sync(), mode, Optional.empty());
    TrainingSettings read = settings;
    List<String> extents =
        Runs.onAll(
            2,
            config,
            job -> {
              RankExchange exchange = RankExchange.of(job);
              DataSource mine = job.rank() == late ? new LateSource(source) : source;
              String extent = DataShard.read(read, mine, job, exchange).extent();
              exchange.requireSame("data", "rank", extent);
              return extent;
            });
    assertThat(extents).hasSize(2);
    assertThat(extents.get(0)).isEqualTo(extents.get(1));
  }

  /// A source whose training examples take long.
  private record LateSource(DataSource source) implements DataSource {

    @Override
    public String name() {
      return source.name();
    }

    @Override
    public void check() {
      source.check();
    }

    @Override
    public Examples train(ReadProgress progress) {
      pause();
      return source.train(progress);
    }

    @Override
    public Examples test(ReadProgress progress) {
      return source.test(progress);
    }

    @Override
    public Optional<PartReader> parts() {
      return source.parts().map(LateParts::new);
    }
  }

  private record LateParts(PartReader reader) implements PartReader {

    @Override
    public Examples train(int part, int parts, ReadProgress progress) {
      pause();
      return reader.train(part, parts, progress);
    }

    @Override
    public Optional<Examples> test(int part, int parts, ReadProgress progress) {
      return reader.test(part, parts, progress);
    }

    @Override
    public int heldOut(int rows) {
      return reader.heldOut(rows);
    }
  }

  private static void pause() {
    long end = System.nanoTime() + READING_NANOS;
    while (System.nanoTime() - end < 0) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }
}
