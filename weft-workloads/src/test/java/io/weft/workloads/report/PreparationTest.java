// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.pictures.CifarFiles;
import io.weft.workloads.training.TrainingObserver;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class PreparationTest {

  private final StringWriter text = new StringWriter();
  private final AtomicLong nanos = new AtomicLong();

  private Preparation preparation(ProgressPrinter.Style style) {
    return new Preparation(new PrintWriter(text, true), style, () -> true, nanos::get);
  }

  private void after(Preparation preparation, double seconds) {
    nanos.addAndGet((long) (seconds * 1e9));
    preparation.tell();
  }

  @Test
  void onlyPartsThatLastAreReportedEveryFewSeconds() {
    Preparation preparation = preparation(ProgressPrinter.Style.LOG);
    preparation.begin("reading pictures");
    after(preparation, 1.9);
    assertThat(text.toString()).isEmpty();
    preparation.at(1234, 60_000, "files");
    after(preparation, 0.2);
    preparation.at(2345, 60_000, "files");
    after(preparation, 4.9);
    after(preparation, 0.2);
    assertThat(text.toString().lines())
        .containsExactly(
            "reading pictures, 1,234 of 60,000 files, for 2 s",
            "reading pictures, 2,345 of 60,000 files, for 7 s");
  }

  @Test
  void theNextPartRestartsTheTimeAndAnUnknownTotalIsOmitted() {
    Preparation preparation = preparation(ProgressPrinter.Style.LOG);
    preparation.begin("reading clicks");
    preparation.at(5_000_000, ReadProgress.UNKNOWN, "lines");
    after(preparation, 3);
    preparation.begin("building the network");
    after(preparation, 1);
    after(preparation, 40);
    preparation.close();
    after(preparation, 40);
    assertThat(text.toString().lines())
        .containsExactly(
            "reading clicks, 5,000,000 lines, for 3 s", "building the network, for 41 s");
  }

  @Test
  void aTerminalRedrawsOneLineUntilTheFirstStep() {
    Preparation preparation = preparation(ProgressPrinter.Style.TERMINAL);
    PrintWriter err = new PrintWriter(text, true);
    var progress =
        new ProgressPrinter(
            err, preparation, ProgressPrinter.Style.TERMINAL, Reports.SETTINGS, () -> true);
    progress.onStart(new TrainingObserver.Start("digits", 10, 3200, 100, 0));
    text.getBuffer().setLength(0);
    after(preparation, 2);
    after(preparation, 0.1);
    after(preparation, 0.2);
    String line = "\r\u001b[Kthe first step, for which the engine prepares its kernels, for 2 s";
    assertThat(text).hasToString(line + line);
    progress.onStep(new TrainingObserver.TrainedStep(1, 1, 1, 1));
    after(preparation, 10);
    assertThat(text).hasToString(line + line);
  }

  @Test
  void filesOfAFolderAreCountedAsTheyAreRead(@TempDir Path directory) throws IOException {
    for (String part : List.of("train", "test")) {
      for (int label = 0; label < 10; label++) {
        Path folder = Files.createDirectories(directory.resolve(part).resolve("class" + label));
        var image = new BufferedImage(32, 32, BufferedImage.TYPE_INT_RGB);
        ImageIO.write(image, "png", folder.resolve("a.png").toFile());
      }
    }
    List<String> heard = new ArrayList<>();
    Examples read =
        new CifarFiles(directory)
            .train((done, all, unit) -> heard.add(done + " of " + all + " " + unit));
    assertThat(read.count()).isEqualTo(10);
    assertThat(heard).hasSize(10).startsWith("0 of 10 files").endsWith("9 of 10 files");
  }

  /// A source whose read lasts until its progress was reported.
  private record Slow(CountDownLatch told) implements DataSource {
    @Override
    public String name() {
      return "slow files";
    }

    @Override
    public void check() {}

    @Override
    public Examples train(ReadProgress progress) {
      progress.at(7, 9, "files");
      try {
        assertThat(told.await(50, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return new Examples(1, 2, 1, new byte[1], new byte[1]);
    }

    @Override
    public Examples test(ReadProgress progress) {
      return train(progress);
    }
  }

  @Test
  @Timeout(60)
  void aLongCallIsReportedByASeparateThread() {
    CountDownLatch told = new CountDownLatch(1);
    PrintWriter err =
        new PrintWriter(text, true) {
          @Override
          public void println(String line) {
            super.println(line);
            told.countDown();
          }
        };
    try (var preparation = Preparation.start(err, ProgressPrinter.Style.LOG, () -> true)) {
      assertThat(new ToldSource(new Slow(told), preparation).train().count()).isEqualTo(1);
    }
    assertThat(text.toString()).startsWith("reading slow files to train on, 7 of 9 files, for ");
  }
}
