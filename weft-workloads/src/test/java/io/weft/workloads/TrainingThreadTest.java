// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.workloads.training.TrainingException;
import java.io.FileNotFoundException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TrainingThreadTest {

  private static final CommException LOST =
      new CommException.Aborted("rank 2 on node7 is lost", 2, null);

  @Test
  void awaitReturnsAfterTheTraining() throws Exception {
    var trained = new AtomicBoolean();
    TrainingThread.start(() -> trained.set(true)).await();
    assertThat(trained).isTrue();
  }

  @Test
  void awaitThrowsTheExceptionOfTheTraining() {
    var training =
        TrainingThread.start(
            () -> {
              throw new FileNotFoundException("report.json");
            });
    assertThatThrownBy(training::await).isExactlyInstanceOf(FileNotFoundException.class);
  }

  @Test
  void awaitThrowsIfTheJobHasFailedWhileTrainingContinues() {
    var busy = new CountDownLatch(1);
    var training =
        TrainingThread.start(
            () -> {
              try {
                busy.await();
              } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
              }
            });
    training.giveUp(LOST);
    assertThatThrownBy(training::await)
        .isExactlyInstanceOf(TrainingException.Lost.class)
        .hasMessage("rank 2 on node7 is lost")
        .hasCause(LOST);
    busy.countDown();
  }

  @Test
  void theExceptionOfTheTrainingHasPriority() {
    var training =
        TrainingThread.start(
            () -> {
              throw new TrainingException.Diverged("the loss became NaN");
            });
    training.giveUp(LOST);
    assertThatThrownBy(training::await).isExactlyInstanceOf(TrainingException.Diverged.class);
  }
}
