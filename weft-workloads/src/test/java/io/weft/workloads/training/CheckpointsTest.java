// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.checkpoint.CheckpointException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class CheckpointsTest {

  @TempDir Path directory;

  /// Ends a run after an epoch, as a power cut would: its checkpoint is on disk.
  private record PowerCut(int afterEpoch) implements Observer {
    @Override
    public void onStart(Start start) {}

    @Override
    public void onStep(Step step) {}

    @Override
    public void onEpoch(Epoch epoch) {
      if (epoch.epoch() == afterEpoch) {
        throw new IllegalStateException("power cut");
      }
    }

    @Override
    public void onShrink(Shrink shrink, String why) {}
  }

  @Test
  void aResumedRunEndsInTheSameBits() {
    Settings settings = Runs.settings(4);
    Outcome whole = Runs.alone(settings);
    Settings saving = Runs.saving(settings, directory);
    cut(saving, 2);
    Outcome resumed = Runs.alone(saving);
    assertThat(resumed.digests()).isEqualTo(whole.digests());
    assertThat(resumed.losses()).isEqualTo(whole.losses());
    assertThat(resumed.accuracies()).isEqualTo(whole.accuracies());
    assertThat(resumed.timing().stepNanos()).hasSize(40);
  }

  @Test
  void severalRanksResumeTogether() {
    Settings settings =
        Runs.with(Runs.settings(3), new Sync.Weights(6), ReadMode.SHARDED, Optional.empty());
    List<Outcome> whole = Runs.together(2, settings);
    Settings saving = Runs.saving(settings, directory);
    assertThatThrownBy(() -> Runs.together(2, saving, new PowerCut(2))).hasMessage("power cut");
    assertThat(Runs.together(2, saving).getFirst().digests()).isEqualTo(whole.getFirst().digests());
  }

  @Test
  void theLastTwoAreKept() throws IOException {
    Outcome ignored = Runs.alone(Runs.saving(Runs.settings(4), directory));
    try (var files = Files.list(directory)) {
      assertThat(files.map(f -> f.getFileName().toString()))
          .containsExactlyInAnyOrder("epoch-00003.weft", "epoch-00004.weft");
    }
  }

  @Test
  void aFinishedRunTrainsNothingMore() {
    Settings saving = Runs.saving(Runs.settings(2), directory);
    Outcome first = Runs.alone(saving);
    Outcome again = Runs.alone(saving);
    assertThat(again.digests()).isEqualTo(first.digests());
    assertThat(again.finalLoss()).isEqualTo(first.finalLoss());
    assertThat(again.timing().stepNanos()).isEmpty();
  }

  @Test
  void aDamagedFileIsNamedAndLeftAlone() throws IOException {
    Settings saving = Runs.saving(Runs.settings(3), directory);
    cut(saving, 2);
    Path newest = directory.resolve("epoch-00002.weft");
    byte[] whole = Files.readAllBytes(newest);
    byte[] flipped = whole.clone();
    flipped[whole.length / 2] ^= 1;
    refused(saving, newest, flipped, "checksum");
    refused(saving, newest, Arrays.copyOf(whole, whole.length - 5), "ends too early");
    refused(saving, newest, Arrays.copyOf(whole, 5), "ends too early");
    refused(saving, newest, new byte[100], "WEFTCKP1");
    Files.write(newest, whole);
    Outcome resumed = Runs.alone(saving);
    assertThat(resumed.accuracies()).hasSize(3);
  }

  @Test
  void aCheckpointOfAnotherRunIsRefused() {
    Settings s = Runs.settings(2);
    cut(Runs.saving(s, directory), 1);
    Settings other =
        new Settings(
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
  void aDirectoryThatCannotBeMadeIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    Settings saving = Runs.saving(Runs.settings(1), file.resolve("below"));
    assertThatThrownBy(() -> Runs.alone(saving))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("--checkpoint " + file.resolve("below"));
  }

  private static void cut(Settings settings, int epoch) {
    assertThatThrownBy(
            () -> new Trainer(settings, Runs.DIGITS, new SoloJob(), new PowerCut(epoch)).run())
        .hasMessage("power cut");
  }

  private static void refused(Settings settings, Path file, byte[] bytes, String why)
      throws IOException {
    Files.write(file, bytes);
    assertThatThrownBy(() -> Runs.alone(settings))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining(why);
    assertThat(file).hasBinaryContent(bytes);
  }
}
