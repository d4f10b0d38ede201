// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.kv.checkpoint.CheckpointDirectory;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks checkpoints near the largest number, and checkpoints of servers whose memory is full.
@Timeout(60)
class CheckpointLimitsTest {

  private static final TableSpec ROWS =
      TableSpec.rows("rows", 256).with(Consistency.asynchronous());

  @TempDir private Path directory;

  private static KvJob job(String memory) {
    return new KvJob("inproc", 2, KvOptions.servers(1), it -> it.set(KvConfig.MEMORY, memory));
  }

  private static float[] ones(int rows) {
    float[] values = new float[256 * rows];
    Arrays.fill(values, 1);
    return values;
  }

  @Test
  void aCheckpointNumberOfTenDigitsIsFoundAgain() throws Exception {
    Files.createDirectory(directory.resolve("checkpoint-999999999"));
    try (KvJob job = job("64M")) {
      KvWorker worker = job.member(1).worker();
      worker.register(ROWS).push(new long[] {7}, ones(1)).await();
      assertThat(worker.checkpoint(directory).number()).isEqualTo(1_000_000_000);
      worker.register(ROWS).push(new long[] {7}, ones(1)).await();
      assertThat(worker.checkpoint(directory).number()).isEqualTo(1_000_000_001);
    }
    try (KvJob job = job("64M")) {
      KvWorker worker = job.member(1).worker();
      KvTable rows = worker.register(ROWS);
      assertThat(worker.restore(CheckpointOptions.in(directory)).orElseThrow().number())
          .isEqualTo(1_000_000_001);
      float[] pulled = new float[256];
      rows.pull(new long[] {7}, pulled).await();
      assertThat(pulled).containsOnly(2);
    }
  }

  @Test
  void noCheckpointFollowsTheLargestNumberAndOtherNamesAreIgnored() throws IOException {
    var numbered = new CheckpointDirectory(directory, "job");
    Files.createDirectory(directory.resolve("checkpoint-0000003"));
    Files.createDirectory(directory.resolve("checkpoint-9999999999"));
    Files.createDirectory(directory.resolve("checkpoint-000000"));
    assertThat(numbered.numbers()).isEmpty();
    assertThat(numbered.begin()).isEqualTo(1);
    Files.createDirectory(directory.resolve("checkpoint-2147483647"));
    assertThat(numbered.numbers()).isEqualTo(List.of(1, Integer.MAX_VALUE));
    assertThatThrownBy(numbered::begin)
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("checkpoint-2147483647: no checkpoint can have a larger number");
  }

  @Test
  void aServerWithFullMemoryIsSavedAndRestoredWithMoreMemory() throws Exception {
    int saved = 0;
    try (KvJob job = job("8M")) {
      KvWorker worker = job.member(1).worker();
      // A tensor that no request has used takes no memory.
      KvTensor unused =
          worker.registerTensor(TableSpec.tensor("t", 1 << 22).with(Slicer.parts(1 << 20)));
      KvTable rows = worker.register(ROWS);
      try {
        while (saved < 100_000) {
          rows.push(LongStream.range(saved, saved + 100L).toArray(), ones(100)).await();
          saved += 100;
        }
      } catch (CommException.Mismatch full) {
        assertThat(full).hasMessageContaining("memory budget").hasMessageContaining("checkpoint");
      }
      assertThat(saved).isBetween(1000, 10_000);
      assertThat(worker.checkpoint(directory).number()).isEqualTo(1);
      assertThat(unused.spec().width()).isEqualTo(1 << 22);
    }
    try (KvJob job = job("64M")) {
      KvWorker worker = job.member(1).worker();
      KvTensor tensor =
          worker.registerTensor(TableSpec.tensor("t", 1 << 22).with(Slicer.parts(1 << 20)));
      KvTable rows = worker.register(ROWS);
      assertThat(worker.restore(CheckpointOptions.in(directory))).isPresent();
      float[] pulled = new float[256 * saved];
      rows.pull(LongStream.range(0, saved).toArray(), pulled).await();
      assertThat(pulled).containsOnly(1);
      float[] zeros = new float[1 << 22];
      tensor.pull(MemorySegment.ofArray(zeros)).await();
      assertThat(zeros[1 << 21]).isZero();
    }
  }
}
