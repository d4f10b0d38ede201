// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.Figure;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

@Timeout(120)
class ReproductionTest {

  private static final String HOST = "a processor, 2 cores";

  @TempDir private Path directory;

  private static PaperFigure figure(String name, PaperFigure.FigureTrial trial) {
    return new PaperFigure("HVD18", name, "A claim <of> \"this\" & that document", trial);
  }

  private FigureRows rows() {
    return FigureRows.read(directory.resolve("figures.jsonl"));
  }

  private Figure reproduce(PaperFigure figure, ScriptedRuns runs) throws Exception {
    return new Reproduction(ReproductionMode.QUICK, rows(), runs.quick(), HOST).reproduce(figure);
  }

  @Test
  void aCommandThatFailsLeavesANoteAndKeepsTheSimulation() throws Exception {
    Figure row =
        reproduce(
            figure(
                "fig1",
                each -> {
                  each.simulated("2 times");
                  each.judge(true, "");
                  each.run(WeftRun.of("perf nothing"));
                }),
            new ScriptedRuns());
    assertThat(row.text("note")).isEqualTo("Failed: ./weft perf nothing ended with 1: scripted");
    assertThat(row.text("command")).isEqualTo("./weft perf nothing");
    assertThat(row.text("verdict")).isEqualTo("agrees (simulated)");
    assertThat(row.has("measured")).isFalse();
  }

  @Test
  void aMissingRequirementIsNamed() throws Exception {
    Figure row =
        reproduce(
            figure(
                "fig1",
                each -> {
                  throw new PerfException.Missing("no device; install one");
                }),
            new ScriptedRuns());
    assertThat(row.text("note")).isEqualTo("Missing here: no device; install one");
    assertThat(row.text("verdict")).isEqualTo(FigureRow.NOT_JUDGED);
  }

  @Test
  void aReportWithoutTheNumberIsAFailureOfTheRow() throws Exception {
    Figure row =
        reproduce(
            figure("fig1", each -> each.measured("" + each.run(WeftRun.of("x")).number("/a/b"))),
            new ScriptedRuns().report("x", "{\"a\":{}}"));
    assertThat(row.text("note")).contains("./weft x: its report has no number a/b");
  }

  @Test
  void finishedRowsAreKeptAndUnfinishedOnesAreNot() throws Exception {
    PaperFigure done = figure("fig1", each -> each.measured("1"));
    PaperFigure late =
        figure(
            "fig2",
            each -> {
              throw new WeftRuns.OutOfTime("no time");
            });
    FigureRows rows = rows();
    Reproduction first =
        new Reproduction(ReproductionMode.QUICK, rows, new ScriptedRuns().quick(), HOST);
    var unused = first.reproduce(done);
    assertThat(first.reproduce(late).text("note")).isEqualTo("no time");
    FigureRows again = rows();
    assertThat(again.finished(done, ReproductionMode.QUICK)).isPresent();
    assertThat(again.finished(late, ReproductionMode.QUICK)).isEmpty();
    assertThat(again.finished(done, ReproductionMode.FULL)).isEmpty();
    assertThat(Files.readAllLines(directory.resolve("figures.jsonl"))).hasSize(2);
  }

  @Test
  void foreignFilesAreRefusedByLine() throws Exception {
    Path file = directory.resolve("figures.jsonl");
    for (String line : List.of("no json", "{\"a\":1}", "[]")) {
      Files.writeString(
          file, "{\"document\":\"A\",\"figure\":\"b\",\"mode\":\"quick\"}\n" + line + "\n");
      assertThatThrownBy(() -> FigureRows.read(file))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("line 2 of")
          .hasMessageContaining("is not a row of weft reproduce");
    }
  }

  @Test
  void equalCommandsRunOnceAndFailuresAreShared() throws Exception {
    ScriptedRuns scripted = new ScriptedRuns().report("a", "{\"n\":1}\n{\"n\":2}\n");
    WeftRuns runs = scripted.quick();
    assertThat(runs.report(WeftRun.of("a")).numbers("/n")).containsExactly(1.0, 2.0);
    assertThat(runs.report(WeftRun.of("a")).number("/n")).isEqualTo(1);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> runs.report(WeftRun.of("b").with("WEFT_SPIN", "0")))
          .isInstanceOf(PerfException.Failed.class);
    }
    assertThat(scripted.started()).containsExactly("./weft a", "WEFT_SPIN=0 ./weft b");
  }

  @Test
  void commandsEndWithTheTimeOfTheMode() throws Exception {
    long[] now = {0};
    List<Duration> limits = new ArrayList<>();
    WeftRuns runs =
        new WeftRuns(
            (run, limit) -> {
              limits.add(limit);
              now[0] += Duration.ofSeconds(255).toNanos();
              return RunReport.parse(run.text(), "{}");
            },
            ReproductionMode.QUICK,
            Duration.ofSeconds(60),
            line -> {},
            () -> now[0]);
    runs.report(WeftRun.of("a"));
    runs.report(WeftRun.of("b"));
    runs.report(WeftRun.of("c"));
    assertThatThrownBy(() -> runs.report(WeftRun.of("d"))).isInstanceOf(WeftRuns.OutOfTime.class);
    assertThat(limits)
        .containsExactly(Duration.ofSeconds(60), Duration.ofSeconds(60), Duration.ofSeconds(20));
  }

  @Test
  void verdictsFollowTheNumbers() throws Exception {
    assertThat(verdict(1.2, 1, 1)).isEqualTo("agrees");
    assertThat(verdict(3.9, 1, 3)).isEqualTo("differs because of tests");
    assertThat(verdict(0.8, 1, 3)).isEqualTo("agrees");
    assertThat(verdict(0.7, 1, 3)).isEqualTo("differs because of tests");
  }

  @Test
  void accuracyIsComparedOverRanks() throws Exception {
    PaperFigure rates = PaperFigures.selected(List.of("HVD18.rates")).getFirst();
    ScriptedRuns runs =
        new ScriptedRuns()
            .report("-np 32 ", "{\"testAccuracy\":0.962}")
            .report("--scale-lr --warmup-epochs 2", "{\"testAccuracy\":0.97}");
    Figure row =
        new Reproduction(ReproductionMode.FULL, rows(), runs.of(ReproductionMode.FULL), HOST)
            .reproduce(rates);
    assertThat(row.text("measured"))
        .isEqualTo(
            "test accuracy on 1, 2, 4, 8, 16, 32 ranks: 97.00, 97.00, 97.00, 97.00, 97.00, 96.20"
                + " percent");
    assertThat(row.text("verdict")).isEqualTo("agrees");
    assertThat(runs.started()).hasSize(6).allMatch(each -> each.contains("--batch-per-rank 64"));
    assertThat(reproduce(rates, new ScriptedRuns()).text("note")).contains("Only --full");
  }

  private String verdict(double ours, double least, double most) throws Exception {
    return reproduce(
            figure("fig1", each -> each.compare(ours, least, most, 0.25, "of tests")),
            new ScriptedRuns())
        .text("verdict");
  }

  @Test
  void thePageIsWellFormedAndLoadsNothing() throws Exception {
    FigureRows rows = rows();
    Reproduction reproduction =
        new Reproduction(ReproductionMode.QUICK, rows, new ScriptedRuns().quick(), HOST);
    Figure drawn =
        reproduction.reproduce(
            figure(
                "fig1",
                each -> {
                  each.axes("ranks", "times one");
                  each.curve("a < b", List.of(1, 2, 4), List.of(1.0, 1.9, 3.5));
                  each.measured("3.5 & more");
                }));
    List<Figure> all = List.of(drawn, reproduction.reproduce(figure("fig2", each -> {})));
    List<String> problems = new ArrayList<>();
    byte[] page = new ReproductionReport(all, HOST, ReproductionMode.QUICK).page(problems);
    assertThat(problems).isEmpty();
    Document document = parse(page);
    assertThat(document.getElementsByTagName("article").getLength()).isEqualTo(2);
    assertThat(attributes(document, "img", "src"))
        .hasSize(1)
        .allMatch(each -> each.startsWith("data:image/svg+xml;base64,"));
    assertThat(attributes(document, "a", "href")).hasSize(2).allMatch(each -> each.startsWith("#"));
    for (String loading : List.of("link", "script", "iframe", "object", "embed")) {
      assertThat(document.getElementsByTagName(loading).getLength()).as(loading).isZero();
    }
    assertThat(new String(page, StandardCharsets.UTF_8))
        .contains("3.5 &amp; more")
        .doesNotContain("http:")
        .doesNotContain("https:")
        .doesNotContain("url(");
  }

  private static Document parse(byte[] page) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
    DocumentBuilder builder = factory.newDocumentBuilder();
    return builder.parse(new ByteArrayInputStream(page));
  }

  private static List<String> attributes(Document document, String tag, String name) {
    NodeList found = document.getElementsByTagName(tag);
    List<String> values = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      values.add(((Element) found.item(i)).getAttribute(name));
    }
    return values;
  }
}
