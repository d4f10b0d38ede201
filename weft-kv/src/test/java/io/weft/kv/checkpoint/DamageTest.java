// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.kv.checkpoint.ShardFile.Content;
import io.weft.kv.checkpoint.ShardFileWriter.Written;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that every truncation and every alteration of a checkpoint's files is detected.
@Timeout(120)
class DamageTest {

  private static final int ROW_BYTES = 24;
  private static final int ROWS = 5;

  @TempDir Path path;

  private CheckpointDirectory directory;
  private Path file;

  @BeforeEach
  void make() throws IOException {
    directory = new CheckpointDirectory(path, "job");
    int number = directory.begin();
    file = directory.of(number).resolve(CheckpointManifest.fileName(0, 0));
    List<Written> said = new ArrayList<>();
    var writer =
        new ShardFileWriter(
            file,
            Runnable::run,
            new ShardFileWriter.Memory() {
              @Override
              public void reserve(long bytes) {}

              @Override
              public void release(long bytes) {}
            },
            said::add);
    writer.begin(
        new ShardFile("0123456789abcdef", "t\nROWS", 0, Content.FULL, 9, 3, List.of("4 lr=2")));
    byte[] rows = new byte[ROW_BYTES * ROWS];
    new Random(5).nextBytes(rows);
    for (int i = 0; i < ROWS; i++) {
      writer.row(MemorySegment.ofArray(rows), (long) i * ROW_BYTES, ROW_BYTES);
    }
    writer.end();
    Written written = said.getFirst();
    assertThat(written.failure()).isNull();
    directory.finish(
        new CheckpointManifest(
            "job",
            number,
            "0123456789abcdef",
            0,
            1,
            List.of(new CheckpointManifest.Table("t\nROWS", 3)),
            List.of(
                new CheckpointManifest.File(
                    0, 0, Content.FULL, written.bytes(), written.checksum(), written.rows()))));
  }

  @Test
  void noCheckpointIsBegunAmongThoseOfAnotherJobOrInAFile() throws IOException {
    assertThatThrownBy(() -> new CheckpointDirectory(path, "other").begin())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("checkpoints of the job 'job', and this is 'other'");
    assertThat(directory.numbers()).containsExactly(1);
    assertThatThrownBy(() -> new CheckpointDirectory(file, "job").begin())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("it is not a directory");
    Files.write(path.resolve("checkpoint-000001").resolve(CheckpointManifest.NAME), new byte[] {1});
    assertThat(new CheckpointDirectory(path, "other").begin()).isEqualTo(2); // no intact checkpoint
  }

  @Test
  void aCheckpointIsReadAsItWasWritten() throws IOException {
    directory.verify(1);
    List<Integer> counts = new ArrayList<>();
    CheckpointManifest manifest = directory.manifest(1);
    ShardFile header =
        directory.read(manifest, manifest.files().getFirst(), it -> counts.add(it.count()));
    assertThat(counts).containsExactly(ROWS);
    assertThat(header.step()).isEqualTo(9);
    assertThat(header.clock()).isEqualTo(3);
  }

  private void refused(Path altered, byte[] content, String what) throws IOException {
    Files.write(altered, content);
    assertThatThrownBy(() -> directory.verify(1))
        .as(what)
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(altered.toString());
  }

  @Test
  void everyTruncationIsFound() throws IOException {
    for (Path each : List.of(file, directory.of(1).resolve(CheckpointManifest.NAME))) {
      byte[] whole = Files.readAllBytes(each);
      for (int length = 0; length < whole.length; length++) {
        refused(each, Arrays.copyOf(whole, length), "cut at " + length);
      }
      refused(each, Arrays.copyOf(whole, whole.length + 1), "a byte more");
      Files.write(each, whole);
      directory.verify(1);
    }
  }

  @Test
  void everyFlippedBitIsFound() throws IOException {
    for (Path each : List.of(file, directory.of(1).resolve(CheckpointManifest.NAME))) {
      byte[] whole = Files.readAllBytes(each);
      for (int bit = 0; bit < 8 * whole.length; bit++) {
        byte[] flipped = whole.clone();
        flipped[bit / 8] ^= (byte) (1 << (bit % 8));
        refused(each, flipped, "bit " + bit);
      }
      Files.write(each, whole);
    }
  }

  /// The length in a head is compared with the length of the file before memory is allocated.
  @Test
  void aLengthBeyondTheEndOfTheFileIsRefused() throws IOException {
    byte[] whole = Files.readAllBytes(file);
    whole[24 + 3] = 0x06; // 100 MB
    Files.write(file, whole);
    assertThatThrownBy(() -> directory.verify(1))
        .hasMessageContaining("it is torn")
        .hasMessageContaining("offset 36");
  }

  @Test
  void aCheckpointOfAnotherVersionOrJobIsRefused() throws IOException {
    assertThatThrownBy(() -> new CheckpointDirectory(path, "other").verify(1))
        .hasMessageContaining("it is of the job 'job', expected 'other'");
    Path manifest = directory.of(1).resolve(CheckpointManifest.NAME);
    Files.writeString(
        manifest, Files.readString(manifest).replace(ShardFile.VERSION, "weft-kv-checkpoint 7"));
    assertThatThrownBy(() -> directory.verify(1))
        .hasMessageContaining(
            "it is of version 'weft-kv-checkpoint 7', expected 'weft-kv-checkpoint 1'");
  }

  @Test
  void aMissingFileAndALinkAreRefused() throws IOException {
    Path elsewhere = Files.copy(file, path.resolve("elsewhere"));
    Files.delete(file);
    assertThatThrownBy(() -> directory.verify(1)).hasMessageContaining("it is not there");
    Files.createSymbolicLink(file, elsewhere);
    assertThatThrownBy(() -> directory.verify(1)).hasMessageContaining("symbolic link");
  }

  @Test
  void anUnfinishedCheckpointIsRefusedAndRemovedAfterALaterOne() throws IOException {
    int second = directory.begin();
    assertThatThrownBy(() -> directory.verify(second)).hasMessageContaining("was not finished");
    int third = directory.begin();
    Files.copy(file, directory.of(third).resolve(file.getFileName()));
    CheckpointManifest one = directory.manifest(1);
    directory.finish(
        new CheckpointManifest("job", third, one.id(), 0, 1, one.tables(), one.files()));
    directory.prune(1);
    assertThat(directory.numbers()).containsExactly(third);
  }
}
