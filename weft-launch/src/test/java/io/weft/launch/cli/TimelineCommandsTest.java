// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.timeline.Recorded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Checks `weft trace merge` and `weft trace report` on timelines of real jobs.
@Timeout(120)
class TimelineCommandsTest {

  @TempDir Path directory;

  private final TypedCommand weft = new TypedCommand();

  private JsonNode json(Path file) throws IOException {
    return JsonMapper.shared().readTree(Files.readString(file));
  }

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp", "shm"})
  void reportNamesTheSlowestRank(String transport) throws IOException {
    Recorded.job(directory, transport, 3, 20, 30);
    Path json = directory.resolve("report.json");
    assertThat(weft.run("trace", "report", directory.toString(), "--json", json.toString()))
        .as(weft.err())
        .isZero();
    JsonNode report = json(json);
    assertThat(report.get("slowestRank").intValue()).as(report.toString()).isEqualTo(2);
    assertThat(report.get("verdict").stringValue()).startsWith("rank 2 is the slowest");
    assertThat(report.get("steps").intValue()).isEqualTo(20);
    assertThat(report.get("waitingShare").doubleValue()).isGreaterThan(0.1);
    double sum =
        report.get("computeShare").doubleValue()
            + report.get("exposedShare").doubleValue()
            + report.get("waitingShare").doubleValue();
    assertThat(sum).isBetween(0.999, 1.001);
    JsonNode slow = report.get("byRank").get(2);
    JsonNode quick = report.get("byRank").get(0);
    assertThat(slow.get("waitingShare").doubleValue())
        .isLessThan(quick.get("waitingShare").doubleValue() / 2);
    assertThat(quick.get("waitedSeconds").get("2").doubleValue()).isGreaterThan(0.3);
    assertThat(weft.out().lines()).hasSize(5).last().asString().startsWith("verdict: rank 2");
    assertThat(weft.err()).isEmpty();
  }

  @Test
  void reportSeparatesNegotiationQueueAndCopies() throws IOException {
    Recorded.fusedJob(directory, 3, 20, 15);
    Path json = directory.resolve("report.json");
    assertThat(weft.run("trace", "report", directory.toString(), "--json", json.toString()))
        .as(weft.err())
        .isZero();
    JsonNode report = json(json);
    assertThat(report.get("slowestRank").intValue()).as(report.toString()).isEqualTo(2);
    assertThat(report.get("waitingShare").doubleValue()).as(report.toString()).isGreaterThan(0.2);
    double parts = 0;
    for (String part : List.of("negotiationShare", "queueShare", "copyShare")) {
      assertThat(report.get(part).doubleValue()).as(part).isNotNegative();
      parts += report.get(part).doubleValue();
    }
    assertThat(parts)
        .as(report.toString())
        .isPositive()
        .isLessThanOrEqualTo(report.get("exposedShare").doubleValue() + 1e-9);
    assertThat(weft.out())
        .containsPattern(
            "  of the exposed communication: \\d+ % negotiation, \\d+ % queue, \\d+ % copies into"
                + " and out of fusion buffers, the rest on the wire");
    Path out = directory.resolve("merged.json");
    assertThat(weft.run("trace", "merge", directory.toString(), "--out", out.toString())).isZero();
    var threads = new TreeSet<String>();
    var categories = new TreeSet<String>();
    for (JsonNode event : json(out).get("traceEvents")) {
      if (event.get("name").stringValue().equals("thread_name")) {
        threads.add(event.get("args").get("name").stringValue());
      } else if (event.has("cat")) {
        categories.add(event.get("cat").stringValue());
      }
    }
    assertThat(threads).contains("tensors 1", "tensors 8", "weft-negotiation-0");
    assertThat(categories).contains("NEGOTIATE", "QUEUE", "FUSE", "COPY_OUT", "WAIT");
  }

  @Test
  void mergedTraceHasTrackForEachRankAndThread() throws IOException {
    Recorded.job(directory, "inproc", 3, 4, 0);
    Path out = directory.resolve("merged.json");
    assertThat(weft.run("trace", "merge", directory.toString(), "--out", out.toString()))
        .as(weft.err())
        .isZero();
    List<JsonNode> events = new ArrayList<>();
    json(out).get("traceEvents").forEach(events::add);
    for (int rank = 0; rank < 3; rank++) {
      int pid = rank;
      List<JsonNode> own =
          events.stream().filter(each -> each.get("pid").intValue() == pid).toList();
      assertThat(own.stream().filter(each -> each.get("name").stringValue().equals("kernel")))
          .hasSize(4);
      assertThat(own)
          .extracting(each -> each.get("name").stringValue())
          .contains("process_name", "thread_name", "step 3", "read <input>", "bias");
      assertThat(own)
          .filteredOn(each -> each.get("ph").stringValue().equals("X"))
          .allSatisfy(
              each -> {
                assertThat(each.get("ts").doubleValue()).isGreaterThanOrEqualTo(0);
                assertThat(each.get("dur").doubleValue()).isGreaterThanOrEqualTo(0);
              });
      var threads = new TreeSet<String>();
      own.stream()
          .filter(each -> each.get("name").stringValue().equals("thread_name"))
          .forEach(each -> threads.add(each.get("args").get("name").stringValue()));
      assertThat(threads).contains("operations 1").hasSizeGreaterThan(2);
    }
    assertThat(weft.out()).contains(" events of 3 ranks in " + out);
    Path html = directory.resolve("merged.html");
    assertThat(weft.run("trace", "merge", directory.toString(), "--html", html.toString()))
        .as(weft.err())
        .isZero();
    assertThat(html).content().startsWith("<!DOCTYPE html>").contains("traceEvents");
  }

  @Test
  void truncatedTimelineIsReadUpToItsEnd() throws IOException {
    Recorded.job(directory, "inproc", 2, 4, 0);
    Path cut = directory.resolve("rank-1.weft-trace");
    byte[] whole = Files.readAllBytes(cut);
    Files.write(cut, Arrays.copyOf(whole, whole.length - 20));
    Path out = directory.resolve("merged.json");
    assertThat(weft.run("trace", "merge", directory.toString(), "--out", out.toString())).isZero();
    assertThat(weft.err())
        .containsPattern("rank-1.weft-trace: it is cut off after 0 of \\d+ events");
    assertThat(json(out).get("traceEvents").size()).isPositive();
    assertThat(weft.run("trace", "report", directory.toString())).isZero();
    assertThat(weft.err()).contains("it has no event and is left out");
    assertThat(weft.out()).contains("1 ranks", "only one rank's timeline is there");
    Files.writeString(cut, "something else");
    assertThat(weft.run("trace", "report", directory.toString())).isZero();
    assertThat(weft.err())
        .contains("rank-1.weft-trace: not a timeline of Weft")
        .contains("timelines of 1 of 2 ranks; the others are missing");
  }

  @Test
  void unreadableInputAndUnwritableOutputAreNamed() throws IOException {
    for (String command : List.of("merge", "report")) {
      List<String> words = new ArrayList<>(List.of("trace", command, directory.toString()));
      if (command.equals("merge")) {
        words.addAll(List.of("--out", directory.resolve("o").toString()));
      }
      assertThat(weft.run(words.toArray(String[]::new))).isEqualTo(ExitCodes.WRONG_USAGE);
      assertThat(weft.err()).contains(directory + " has no timeline (rank-0.weft-trace");
      words.set(2, "/nowhere");
      assertThat(weft.run(words.toArray(String[]::new))).isEqualTo(ExitCodes.WRONG_USAGE);
      assertThat(weft.err()).contains("cannot read /nowhere: no such file or directory");
    }
    Files.writeString(directory.resolve("rank-0.weft-trace"), "no");
    assertThat(weft.run("trace", "report", directory.toString())).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(weft.err()).contains(directory + " has no timeline that can be read");
    assertThat(weft.run("trace", "merge", directory.toString(), "--out", "/nowhere/x"))
        .isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(weft.err()).contains("--out: cannot write /nowhere/x").doesNotContain("\tat ");
    assertThat(weft.run("trace", "merge", directory.toString())).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(weft.err()).contains("where to? --out FILE, or --html FILE");
  }
}
