// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.checkpoint.CheckpointException;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that the state of servers is saved and restored on other servers.
@Timeout(600)
class ServedCheckpointTest {

  private static final SyntheticDigits DIGITS = new SyntheticDigits(1, 300, 50);

  @TempDir Path directory;

  /// Returns settings with Adagrad, which has state and whose rate does not depend on `epochs`.
  private static TrainingSettings settings(int epochs, Sync sync, Optional<Path> checkpoint) {
    return new TrainingSettings(
        Workload.MNIST_DNN,
        epochs,
        50,
        0.02f,
        OptimizerKind.ADAGRAD,
        7,
        sync,
        ReadMode.SHARDED,
        checkpoint);
  }

  private static TrainingOutcome train(TrainingSettings settings, Servers servers) {
    return ServedRuns.served(settings, servers, DIGITS, "inproc").outcome();
  }

  private void assertResumes(Sync sync, Servers servers, Servers others) {
    TrainingOutcome whole = train(settings(3, sync, Optional.empty()), servers);
    TrainingOutcome begun = train(settings(2, sync, Optional.of(directory)), servers);
    assertThat(begun.losses()).isEqualTo(whole.losses().subList(0, 12));
    TrainingOutcome resumed = train(settings(3, sync, Optional.of(directory)), others);
    assertThat(resumed.losses()).isEqualTo(whole.losses());
    assertThat(resumed.digests()).isEqualTo(whole.digests());
    assertThat(resumed.timing().stepNanos()).hasSize(6);
    assertThat(directory)
        .isDirectoryContaining("glob:**epoch-00002.weft")
        .isDirectoryContaining("glob:**epoch-00003.weft");
  }

  @Test
  void synchronousStepsResumeWithTheSameBitsOnAnotherCountOfServers() {
    assertResumes(
        new Sync.Gradients(),
        new Servers(Servers.Via.WEFT, 2, 2, 0),
        new Servers(Servers.Via.WEFT, 2, 1, 0));
  }

  @Test
  void asynchronousStepsOfOneWorkerResumeWithTheSameBits() {
    var one = new Servers(Servers.Via.WEFT, 1, 1, 0);
    assertResumes(new Sync.Asynchronous(), one, one);
  }

  @Test
  void aCheckpointOfARunWithoutServersIsRefused() {
    TrainingSettings settings = settings(1, new Sync.Gradients(), Optional.of(directory));
    TrainingOutcome unused = ServedRuns.alone(settings, DIGITS);
    assertThatThrownBy(() -> train(settings, new Servers(Servers.Via.WEFT, 1, 1, 0)))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("epoch-00001.weft")
        .hasMessageContaining("sync gradients, but this run has gradients on parameter servers");
  }
}
