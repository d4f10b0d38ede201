// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.testkit.fault.SmallDisk;
import io.weft.workloads.checkpoint.CheckpointException;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.digits.SyntheticDigits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class CheckpointsTest {

  @TempDir Path directory;

  /// Ends a run after an epoch as a power cut does, with its checkpoint on disk.
  private record PowerCut(int afterEpoch) implements TrainingObserver {
    @Override
    public void onStart(Start start) {}

    @Override
    public void onStep(TrainedStep step) {}

    @Override
    public void onEpoch(TrainedEpoch epoch) {
      if (epoch.epoch() == afterEpoch) {
        throw new IllegalStateException("power cut");
      }
    }

    @Override
    public void onShrink(Shrink shrink, String why) {}

    @Override
    public void onUnsaved(String why) {
      throw new AssertionError(why);
    }
  }

  @Test
  void aResumedRunEndsWithTheSameBits() {
    TrainingSettings settings = Runs.settings(4);
    TrainingOutcome whole = Runs.alone(settings);
    TrainingSettings saving = Runs.saving(settings, directory);
    cut(saving, 2);
    TrainingOutcome resumed = Runs.alone(saving);
    assertThat(resumed.digests()).isEqualTo(whole.digests());
    assertThat(resumed.losses()).isEqualTo(whole.losses());
    assertThat(resumed.accuracies()).isEqualTo(whole.accuracies());
    assertThat(resumed.timing().stepNanos()).hasSize(40);
  }

  @Test
  void severalRanksResumeTogether() {
    TrainingSettings settings =
        Runs.with(Runs.settings(3), new Sync.Weights(6), ReadMode.SHARDED, Optional.empty());
    List<TrainingOutcome> whole = Runs.together(2, settings);
    TrainingSettings saving = Runs.saving(settings, directory);
    assertThatThrownBy(() -> Runs.together(2, saving, new PowerCut(2))).hasMessage("power cut");
    assertThat(Runs.together(2, saving).getFirst().digests()).isEqualTo(whole.getFirst().digests());
  }

  @Test
  void runsWithAndWithoutSharesResumeEachOther() {
    TrainingSettings plain = Runs.settings(3);
    List<String> whole = Runs.together(2, plain).getFirst().digests();
    TrainingSettings inShares = plain.with(new GradientExchange.InShares());
    for (TrainingSettings first : List.of(plain, inShares)) {
      for (TrainingSettings second : List.of(plain, inShares)) {
        Path there = directory.resolve(first.exchange() + "-" + second.exchange());
        assertThatThrownBy(
                () ->
                    Runs.together(
                        2, Runs.saving(first, there).with(first.exchange()), new PowerCut(2)))
            .hasMessage("power cut");
        assertThat(
                Runs.together(2, Runs.saving(second, there).with(second.exchange()))
                    .getFirst()
                    .digests())
            .isEqualTo(whole);
      }
    }
  }

  @Test
  void theLastTwoCheckpointsAreKept() throws IOException {
    TrainingOutcome ignored = Runs.alone(Runs.saving(Runs.settings(4), directory));
    try (var files = Files.list(directory)) {
      assertThat(files.map(f -> f.getFileName().toString()))
          .containsExactlyInAnyOrder("epoch-00003.weft", "epoch-00004.weft");
    }
  }

  @Test
  void aFinishedRunTrainsNothingMore() {
    TrainingSettings saving = Runs.saving(Runs.settings(2), directory);
    TrainingOutcome first = Runs.alone(saving);
    TrainingOutcome again = Runs.alone(saving);
    assertThat(again.digests()).isEqualTo(first.digests());
    assertThat(again.finalLoss()).isEqualTo(first.finalLoss());
    assertThat(again.timing().stepNanos()).isEmpty();
  }

  @Test
  void aDamagedFileIsNamedAndNotChanged() throws IOException {
    TrainingSettings saving = Runs.saving(Runs.settings(3), directory);
    cut(saving, 2);
    Path newest = directory.resolve("epoch-00002.weft");
    byte[] whole = Files.readAllBytes(newest);
    byte[] flipped = whole.clone();
    flipped[whole.length / 2] ^= 1;
    String older = "; epoch-00001.weft is intact: move this one away to resume from it";
    refused(saving, newest, flipped, "is damaged: its checksum does not match its bytes" + older);
    refused(saving, newest, Arrays.copyOf(whole, whole.length - 5), "checksum");
    refused(saving, newest, Arrays.copyOf(whole, whole.length + 1), "checksum");
    refused(saving, newest, Arrays.copyOf(whole, 5), "is damaged: it ends too early" + older);
    refused(saving, newest, new byte[0], "is damaged: it ends too early" + older);
    Path first = directory.resolve("epoch-00001.weft");
    byte[] wholeToo = Files.readAllBytes(first);
    Files.write(first, new byte[9]);
    refused(saving, newest, flipped, "; epoch-00001.weft is damaged too: move both away");
    Files.write(first, wholeToo);
    Files.write(newest, whole);
    TrainingOutcome resumed = Runs.alone(saving);
    assertThat(resumed.accuracies()).hasSize(3);
  }

  @Test
  void aFlippedBitOfTheManifestIsDamage() throws IOException {
    TrainingSettings saving = Runs.saving(Runs.settings(3), directory);
    cut(saving, 2);
    Path newest = directory.resolve("epoch-00002.weft");
    byte[] flipped = Files.readAllBytes(newest);
    flipped[100] ^= 2;
    refused(saving, newest, flipped, "is damaged");
    assertThat(directory.resolve("epoch-00001.weft")).exists();
  }

  @Test
  void aWholeFileUnderAnotherNameIsRefused() throws IOException {
    TrainingSettings saving = Runs.saving(Runs.settings(3), directory);
    cut(saving, 2);
    byte[] whole = Files.readAllBytes(directory.resolve("epoch-00002.weft"));
    refused(saving, directory.resolve("epoch-00003.weft"), whole, "its name does not fit its 2");
  }

  @Test
  void aCheckpointOfAnotherDataSetIsRefused() {
    cut(Runs.saving(Runs.settings(2), directory), 1);
    DataSource same = new SyntheticDigits(1, 500, 201);
    assertThat(same.name()).isEqualTo(Runs.DIGITS.name());
    TrainingSettings saving = Runs.saving(Runs.settings(2), directory);
    assertThatThrownBy(
            () -> new Trainer(saving, same, new SoloJob(), TrainingObserver.SILENT).run())
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("20 steps an epoch, but this run has 10");
  }

  @Test
  void aFileThatIsNotRegularIsRefusedWithoutWaiting() throws Exception {
    Path pipe = directory.resolve("epoch-00001.weft");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> Runs.alone(Runs.saving(Runs.settings(1), directory)))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining(pipe + " cannot be read: it is a FIFO");
    Files.delete(pipe);
    Files.createSymbolicLink(pipe, Path.of("/dev/zero"));
    assertThatThrownBy(() -> Runs.alone(Runs.saving(Runs.settings(1), directory)))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining(pipe + " cannot be read: it is a symbolic link");
  }

  @Test
  void theTemporaryFileOfAKilledRunIsRemoved() throws IOException {
    Path left = directory.resolve(".epoch-00001.weft.0123456789abcdef-0123456789abcdef.tmp");
    Files.writeString(left, "half");
    TrainingOutcome ignored = Runs.alone(Runs.saving(Runs.settings(1), directory));
    assertThat(left).doesNotExist();
    assertThat(directory.resolve("epoch-00001.weft")).exists();
  }

  @Test
  void aFullDiskLosesOnlyTheCheckpoint() throws IOException {
    Path mount = Files.createDirectory(directory.resolve("disk"));
    Optional<SmallDisk> mounted = SmallDisk.on(mount, 60);
    assumeTrue(mounted.isPresent(), "this process may not mount a file system");
    try (SmallDisk full = mounted.get()) {
      Path disk = full.directory();
      List<String> heard = new ArrayList<>();
      TrainingSettings saving = Runs.saving(Runs.settings(2), disk);
      TrainingOutcome trained =
          new Trainer(saving, Runs.DIGITS, new SoloJob(), new RecordingObserver(heard)).run();
      assertThat(trained.accuracies()).hasSize(2);
      assertThat(heard)
          .hasSize(2)
          .first()
          .asString()
          .contains(disk.resolve("epoch-00001.weft") + " cannot be written: ")
          .contains("No space left on device");
      try (var files = Files.list(disk)) {
        assertThat(files).isEmpty();
      }
    }
  }

  private record RecordingObserver(List<String> heard) implements TrainingObserver {
    @Override
    public void onStart(Start start) {}

    @Override
    public void onStep(TrainedStep step) {}

    @Override
    public void onEpoch(TrainedEpoch epoch) {}

    @Override
    public void onShrink(Shrink shrink, String why) {}

    @Override
    public void onUnsaved(String why) {
      heard.add(why);
    }
  }

  @Test
  void aCheckpointOfAnotherRunIsRefused() {
    TrainingSettings s = Runs.settings(2);
    cut(Runs.saving(s, directory), 1);
    TrainingSettings other =
        new TrainingSettings(
            s.workload(),
            2,
            s.batch(),
            s.rate(),
            s.optimizer(),
            8,
            s.sync(),
            s.read(),
            Optional.of(directory));
    assertThatThrownBy(() -> Runs.alone(other))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("epoch-00001.weft")
        .hasMessageContaining("seed 7, but this run has 8");
  }

  @Test
  void aDirectoryThatCannotBeCreatedIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    TrainingSettings saving = Runs.saving(Runs.settings(1), file.resolve("below"));
    assertThatThrownBy(() -> Runs.alone(saving))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("--checkpoint " + file.resolve("below"));
  }

  private static void cut(TrainingSettings settings, int epoch) {
    assertThatThrownBy(
            () -> new Trainer(settings, Runs.DIGITS, new SoloJob(), new PowerCut(epoch)).run())
        .hasMessage("power cut");
  }

  private static void refused(TrainingSettings settings, Path file, byte[] bytes, String why)
      throws IOException {
    Files.write(file, bytes);
    assertThatThrownBy(() -> Runs.alone(settings))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining(why);
    assertThat(file).hasBinaryContent(bytes);
  }
}
