// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.TransferCounts;
import io.weft.dataparallel.rate.LearningRateWarmup;
import io.weft.telemetry.metrics.Goodput;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.SoloJob;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Timing;
import io.weft.workloads.training.Traffic;
import io.weft.workloads.training.TrainingCost;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportTest {

  private static final TrainingSettings SETTINGS =
      new TrainingSettings(
          Workload.MNIST_DNN,
          2,
          128,
          0.1f,
          OptimizerKind.SGD,
          5,
          new Sync.Gradients(),
          ReadMode.SHARDED,
          Optional.empty());

  private static final TrainingOutcome OUTCOME =
      new TrainingOutcome(
          "digits <&> more",
          List.of(2.0, 1.0, 0.5, 0.25),
          List.of(0.8, 0.9),
          OptionalDouble.empty(),
          0.9375,
          List.of("0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"),
          new Timing(
              1234,
              List.of(1_000_000L, 3_000_000L, 2_000_000L, 9_000_000L),
              6,
              3,
              1,
              5,
              Optional.empty()),
          Traffic.of(2_000_000_000L, OptionalDouble.empty(), TransferCounts.NONE),
          List.of(new Shrink(1, 57, List.of(0, 3), 2, 1.25)),
          OptionalLong.empty(),
          Optional.empty(),
          OptionalLong.empty(),
          Optional.of(new TrainingCost(4, 1.5, 2.5)),
          List.of(),
          Optional.empty(),
          Optional.empty());

  @TempDir Path directory;

  private final TrainReport report = TrainReport.of(SETTINGS, OUTCOME, new SoloJob());

  @Test
  void theJsonHasTheFieldsOfTheContract() throws IOException {
    Path file = directory.resolve("report.json");
    report.write(file);
    JsonNode json = JsonMapper.builder().build().readTree(Files.readAllBytes(file));
    assertThat(json.propertyNames())
        .containsExactly(
            "workload",
            "dataset",
            "ranks",
            "epochs",
            "globalBatch",
            "seed",
            "samplesPerSecond",
            "stepMillis",
            "finalLoss",
            "testAccuracy",
            "weightsDigest",
            "shrinks",
            "computeSeconds",
            "communicationSeconds",
            "waitSeconds",
            "bytesSent",
            "transport",
            "engine",
            "steps",
            "elapsedSeconds",
            "cpuSeconds",
            "host",
            "weftVersion");
    assertThat(json.get("stepMillis").propertyNames()).containsExactly("p50", "p99");
    assertThat(json.get("stepMillis").get("p50").doubleValue()).isEqualTo(2);
    assertThat(json.get("stepMillis").get("p99").doubleValue()).isEqualTo(9);
    assertThat(json.get("host").propertyNames()).containsExactly("cpu", "cores", "kernel", "jdk");
    assertThat(json.get("weightsDigest").size()).isEqualTo(2);
    assertThat(json.get("shrinks").get(0).propertyNames())
        .containsExactly("epoch", "step", "lost", "survivors", "seconds");
    assertThat(json.get("testAccuracy").doubleValue()).isEqualTo(0.9);
    assertThat(json.get("weftVersion").stringValue()).doesNotContain("$").isNotBlank();
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void aRankedWorkloadReportsItsArea() throws IOException {
    var ranked =
        new TrainingOutcome(
            "clicks",
            List.of(0.5),
            List.of(0.75),
            OptionalDouble.of(0.8125),
            0.5,
            List.of("0123456789abcdef"),
            OUTCOME.timing(),
            Traffic.of(0, OptionalDouble.of(1_500_000), new TransferCounts(5, 3000, 1000, 2000)),
            List.of(),
            OptionalLong.of(9),
            Optional.of(new Goodput(10, 1, 6, 1, Map.of(1, 0.5), 0.25, 0.25, 0.5, 0.5)),
            OptionalLong.of(4096),
            Optional.empty(),
            List.of(),
            Optional.of(new LearningRateWarmup(0.05f, 4, 25)),
            Optional.of("A line."));
    TrainReport area = TrainReport.of(SETTINGS, ranked, new SoloJob());
    Path file = directory.resolve("ranked.json");
    area.write(file);
    JsonNode json = JsonMapper.builder().build().readTree(Files.readAllBytes(file));
    assertThat(json.get("testAuc").doubleValue()).isEqualTo(0.8125);
    assertThat(json.get("outerSteps").longValue()).isEqualTo(9);
    assertThat(json.get("sample").stringValue()).isEqualTo("A line.");
    assertThat(Summary.of(area, ranked)).contains("  sample         A line.\n");
    assertThat(json.get("bytesPerStep").longValue()).isEqualTo(1_500_000);
    JsonNode transfers = json.get("transfers");
    assertThat(transfers.get("registrations").longValue()).isEqualTo(5);
    assertThat(transfers.get("oneSidedBytes").longValue()).isEqualTo(3000);
    assertThat(transfers.get("ringBytes").longValue()).isEqualTo(1000);
    assertThat(transfers.get("copiedBytes").longValue()).isEqualTo(2000);
    assertThat(json.get("optimizerBytes").longValue()).isEqualTo(4096);
    assertThat(json.get("goodput").get("computeSeconds").doubleValue()).isEqualTo(6);
    assertThat(json.get("goodput").get("waitingSeconds").get("1").doubleValue()).isEqualTo(0.5);
    assertThat(Summary.of(area, ranked))
        .contains(
            "  goodput        60 % of 10.0 s computing; 10 % start-up, 10 % exposed communication,"
                + " 5 % waiting for rank 1, 3 % input, 3 % checkpoints, 5 % tests, 5 % other");
    assertThat(Summary.of(report, OUTCOME)).doesNotContain("goodput");
    assertThat(json.get("learningRate").doubleValue()).isEqualTo(0.2);
    assertThat(json.get("warmupSteps").longValue()).isEqualTo(25);
    assertThat(Summary.of(area, ranked))
        .contains("  rate           0.2 of all ranks, after a warm-up of 25 steps");
    assertThat(json.get("bytesPerStep").doubleValue()).isEqualTo(1_500_000);
    assertThat(Summary.of(area, ranked))
        .contains("test accuracy  0.7500, AUC 0.8125")
        .contains("0 bytes, 1.5 MB a step");
    assertThat(Summary.of(report, OUTCOME)).doesNotContain("AUC");
  }

  @Test
  void theSummaryNamesTheResultsOfARun() {
    assertThat(Summary.of(report, OUTCOME))
        .contains("test accuracy  0.9000")
        .contains("60 % computing, 30 % communicating, 10 % waiting")
        .contains("2.00 GB")
        .contains("SHA-256 0123456789abcdef…, the same on all ranks")
        .contains("lost           ranks 0 and 3 after step 57; went on with 2 after 1.3 s");
  }

  @Test
  void aPictureIsDrawnAsSvg() throws Exception {
    Path file = directory.resolve("run.svg");
    Plot.write(file, report, OUTCOME);
    var factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
    var document = factory.newDocumentBuilder().parse(file.toFile());
    assertThat(blue(document.getElementsByTagName("ellipse"))).as("points").isEqualTo(4 + 2 + 4);
    assertThat(blue(document.getElementsByTagName("line"))).as("between").isEqualTo(3 + 1 + 3);
    assertThat(Files.readString(file)).doesNotContain("NaN");
  }

  /// Returns the number of elements that belong to curves.
  private static long blue(NodeList elements) {
    return IntStream.range(0, elements.getLength())
        .mapToObj(i -> ((Element) elements.item(i)).getAttribute("style"))
        .filter(style -> style.contains("rgb(31,95,168)"))
        .count();
  }

  @Test
  void aPictureIsDrawnAsPng() throws IOException {
    Path file = directory.resolve("run.png");
    Plot.write(file, report, OUTCOME);
    assertThat(ImageIO.read(file.toFile()).getWidth()).isEqualTo(900);
  }

  @Test
  void axesBeginAndEndAtRoundNumbersAlsoForOneValue() {
    AxisScale one = AxisScale.of(List.of(0.847368097782692));
    assertThat(one.low()).isLessThanOrEqualTo(0.847368097782692);
    assertThat(one.high()).isGreaterThanOrEqualTo(0.847368097782692);
    assertThat(one.number(one.low() + one.step())).matches("0\\.8\\d");
    assertThat(AxisScale.from(0, 1_234)).isEqualTo(new AxisScale(0, 1_500, 500));
  }

  @Test
  void panelsOfAPngAreAligned() throws IOException {
    Path file = directory.resolve("run.png");
    Plot.write(file, report, OUTCOME);
    BufferedImage picture = ImageIO.read(file.toFile());
    int panel = picture.getHeight() / 3;
    assertThat(columnOfAxis(picture, panel / 2))
        .isPositive()
        .isEqualTo(columnOfAxis(picture, panel + panel / 2))
        .isEqualTo(columnOfAxis(picture, 2 * panel + panel / 2));
  }

  /// Returns the column of the vertical axis in the rows around `row`, or 0 if there is none.
  private static int columnOfAxis(BufferedImage picture, int row) {
    for (int x = 60; x < 140; x++) {
      int dark = 0;
      for (int y = row - 40; y < row + 40; y++) {
        dark += (picture.getRGB(x, y) & 0xFFFFFF) != 0xFFFFFF ? 1 : 0;
      }
      if (dark == 80) {
        return x;
      }
    }
    return 0;
  }

  @Test
  void aPictureOfALongRunHasFewPoints() {
    var losses = java.util.Collections.nCopies(10_000, 1.5);
    var outcome =
        new TrainingOutcome(
            "d",
            losses,
            List.of(0.5),
            OptionalDouble.empty(),
            1,
            List.of("0123456789abcdef"),
            OUTCOME.timing(),
            Traffic.of(0, OptionalDouble.empty(), TransferCounts.NONE),
            List.of(),
            OptionalLong.empty(),
            Optional.empty(),
            OptionalLong.empty(),
            Optional.empty(),
            List.of(),
            Optional.empty(),
            Optional.empty());
    Curve loss = Curve.of(outcome, 10).getFirst();
    assertThat(loss.x()).hasSizeBetween(100, 200);
    assertThat(loss.y()).containsOnly(1.5);
  }
}
