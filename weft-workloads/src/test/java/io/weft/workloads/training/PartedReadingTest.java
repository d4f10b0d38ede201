// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.batch.Columns;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.collisions.HiggsFiles;
import io.weft.workloads.data.DataException;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.MnistFiles;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.pictures.CifarFiles;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that ranks that read parts of files get the examples of ranks that read all.
@Timeout(60)
class PartedReadingTest {

  private static final int PIXELS = 28 * 28;
  private static final int RECORD = 3073;

  @TempDir Path directory;

  private final Random random = new Random(5);

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void partsOfIdxFilesMakeTheExamplesOfTheRank(int ranks) throws IOException {
    for (String part : List.of("train", "t10k")) {
      idx(part + "-images-idx3-ubyte", 256, PIXELS, 101, 28, 28);
      idx(part + "-labels-idx1-ubyte", 10, 1, 101);
    }
    assertEqualToWhole(Workload.MNIST_DNN, new MnistFiles(directory), ranks);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void partsOfBinaryBatchesMakeTheExamplesOfTheRank(int ranks) throws IOException {
    for (int i = 1; i <= 5; i++) {
      batch("data_batch_" + i + ".bin", 3 * i);
    }
    batch("test_batch.bin", 7);
    assertEqualToWhole(Workload.CIFAR10_DNN, new CifarFiles(directory), ranks);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void partsOfLinesMakeTheExamplesOfTheRank(int ranks) throws IOException {
    Files.writeString(directory.resolve("HIGGS.csv"), lines(203));
    assertEqualToWhole(Workload.HIGGS_DNN, new HiggsFiles(directory), ranks);
  }

  @Test
  void aLineThatOneRankCannotReadEndsAllRanks() throws IOException {
    Files.writeString(directory.resolve("HIGGS.csv"), lines(203) + "1,nan\n");
    List<String> messages =
        Runs.onAll(
            2,
            job -> {
              try {
                return read(Workload.HIGGS_DNN, new HiggsFiles(directory), job).toString();
              } catch (DataException.Malformed e) {
                return String.valueOf(e.getMessage());
              }
            });
    assertThat(messages.get(0)).contains("rank 1 could not read its part of the data");
    assertThat(messages.get(1)).contains("29 columns with commas between in line 204, found 2");
  }

  private static DataShard read(Workload workload, DataSource source, TrainingJob job) {
    return DataShard.read(settings(workload), source, job, RankExchange.of(job));
  }

  private static TrainingSettings settings(Workload workload) {
    return new TrainingSettings(
        workload,
        1,
        10,
        0.1f,
        OptimizerKind.SGD,
        3,
        new Sync.Gradients(),
        ReadMode.SHARDED,
        Optional.empty());
  }

  private static void assertEqualToWhole(Workload workload, DataSource source, int ranks) {
    assertThat(source.parts()).isPresent();
    List<DataShard> parts =
        ranks == 1
            ? List.of(
                DataShard.read(settings(workload), source, new SoloJob(), RankExchange.ofOne()))
            : Runs.onAll(ranks, job -> read(workload, source, job));
    Examples train = source.train();
    Examples test = source.test();
    var columns = new Columns(train.count(), 10, 3);
    for (int rank = 0; rank < ranks; rank++) {
      DataShard part = parts.get(rank);
      assertThat(part.train())
          .isEqualTo(train.select(new RankShards(columns, ranks, rank, ranks).rows()));
      int from = (int) ((long) rank * test.count() / ranks);
      int to = (int) ((rank + 1L) * test.count() / ranks);
      assertThat(part.test()).isEqualTo(test.select(IntStream.range(from, to).toArray()));
      assertThat(part.testCount()).isEqualTo(test.count());
    }
  }

  private void idx(String name, int bound, int bytesEach, int... sizes) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var out = new DataOutputStream(bytes);
    out.writeInt(0x800 | sizes.length);
    for (int size : sizes) {
      out.writeInt(size);
    }
    for (int i = 0; i < sizes[0] * bytesEach; i++) {
      out.writeByte(random.nextInt(bound));
    }
    Files.write(directory.resolve(name), bytes.toByteArray());
  }

  private void batch(String name, int records) throws IOException {
    byte[] bytes = new byte[records * RECORD];
    random.nextBytes(bytes);
    for (int i = 0; i < records; i++) {
      bytes[i * RECORD] = (byte) random.nextInt(10);
    }
    Files.write(directory.resolve(name), bytes);
  }

  private static String lines(int count) {
    var numbers = new SplittableRandom(9);
    return IntStream.range(0, count)
        .mapToObj(
            row ->
                IntStream.range(0, 28)
                    .mapToObj(column -> String.format(Locale.ROOT, ",%.6e", numbers.nextDouble()))
                    .collect(Collectors.joining("", row % 2 + ".0", "\n")))
        .collect(Collectors.joining());
  }
}
