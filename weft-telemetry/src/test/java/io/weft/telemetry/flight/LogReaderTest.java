// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.telemetry.flight.FlightLog.Circle;
import io.weft.telemetry.flight.FlightLog.CircleState;
import io.weft.telemetry.flight.FlightLog.Counts;
import io.weft.telemetry.flight.FlightLog.Event;
import io.weft.telemetry.flight.FlightLog.EventKind;
import io.weft.telemetry.flight.FlightLog.Failure;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.Peer;
import io.weft.telemetry.flight.FlightLog.Self;
import io.weft.telemetry.flight.FlightLog.State;
import io.weft.telemetry.flight.FlightLog.Times;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogReaderTest {

  private static final long MICRO = 1_000;

  static final FlightLog LOG =
      new FlightLog(
          new Self("weft-5", 2, 4, "node7", "4711@17"),
          new Counts(17_120_345 * MICRO, 17_119_001 * MICRO, 1543, 1540),
          List.of(
              new Failure(
                  17_100_000 * MICRO,
                  0x9f3a_0000_0000_0001L,
                  "Aborted",
                  0,
                  "",
                  "aborted by rank 0 on node1: 'dense/kernel'\tis late"),
              new Failure(17_110_000 * MICRO, 3, "Mismatch", -1, "odd", "ranks disagree")),
          List.of(
              new Circle(
                  0x9f3a_0000_0000_0001L,
                  0,
                  1,
                  List.of(0, 1, 2, 3),
                  CircleState.FAILED,
                  17_100_000 * MICRO),
              new Circle(3, 1, 2, List.of(2, 0), CircleState.OPEN, FlightLog.NEVER)),
          List.of(
              new Peer(0, "node1", 17_099_000 * MICRO),
              new Peer(1, "node1", 17_098_000 * MICRO),
              new Peer(3, "-", FlightLog.NEVER)),
          List.of(
              new Event(3_000_000 * MICRO, EventKind.STALLED, -1, "for 1200 ms"),
              new Event(17_100_000 * MICRO, EventKind.LEFT, 1, "in order")),
          List.of(
              flight(1541, "dense/bias", State.DONE, 1, List.of(), List.of()),
              flight(
                  1542,
                  "tab\t'quote' \\ é ☃ 𝄞 \uD800 \u202E",
                  State.FAILED,
                  2,
                  List.of(0, 1, 3),
                  List.of(3)),
              flight(1543, "", State.RUNNING, 1, List.of(), List.of()),
              flight(0, "-", State.SUBMITTED, 0, List.of(), List.of())));

  private static Flight flight(
      long number,
      String name,
      State state,
      int stage,
      List<Integer> awaited,
      List<Integer> unsubmitted) {
    boolean taken = number > 0;
    boolean ended = state == State.DONE || state == State.FAILED;
    return new Flight(
        number,
        0x9f3a_0000_0000_0001L,
        name,
        "allreduce FLOAT32[128, 10] SUM by ring",
        taken ? 312 : 0,
        5_120,
        new FlightLog.Progress(
            state,
            stage,
            new Times(
                13_000_001 * MICRO,
                taken ? 13_000_002 * MICRO : FlightLog.NEVER,
                ended ? 13_000_500 * MICRO : FlightLog.NEVER)),
        new FlightLog.Missing(awaited, unsubmitted));
  }

  private static String golden() throws IOException {
    try (InputStream in = LogReaderTest.class.getResourceAsStream("rank-2.flight")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void theTextMatchesTheGoldenFile() throws IOException {
    assertThat(LOG.text()).isEqualTo(golden());
  }

  @Test
  void theGoldenFileIsRead() throws IOException {
    assertThat(FlightLog.parse(golden())).isEqualTo(LOG);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "weft-flight 1                | weft-flight 2                | line 1: not 'weft-flight 1'",
        "job\\tweft-5                 | jab\\tweft-5                 | line 3: 'jab', not 'job'",
        "job\\tweft-5                 | job                          | line 3: a field is missing",
        "job\\tweft-5                 | job\\ta\\tb                  | line 3: a field too many:"
            + " 'b'",
        "of\\t4                       | of\\t2                       | line 4: rank 2 of 2",
        "of\\t4                       | of\\t70000                   | '70000' is not a number"
            + " up to 65536",
        "of\\t4                       | of\\t-4                      | '-4' is not a number",
        "begun\\t1543                 | begun\\t9999999999999999999  | is not a number",
        "written\\t17.120345          | written\\t17                 | '17' is not a time",
        "written\\t17.120345          | written\\t99999999999.120345 | is not a time",
        "\\t0-3\\tfailed              | \\t0-9999\\tfailed           | 0-9999 is not within the"
            + " ranks",
        "\\t0-3\\tfailed              | \\t3-0\\tfailed              | 3-0 is not within the ranks",
        "\\t0-3\\tfailed              | \\t0--3\\tfailed             | is not a rank or range",
        "\\t0-3\\tfailed              | \\t0-3\\tbroken          | 'broken' is not a CircleState",
        "9f3a000000000001\\tAborted   | 9F3A\\tAborted               | '9F3A' is not a key",
        "\\tAborted\\t0\\t''          | \\tAborted\\t0\\tx           | 'x' is not in quotes",
        "\\tAborted\\t0\\t''          | \\tAborted\\t4\\t''          | '4' is not a number up to 3",
        "\\u0009is late               | \\q                          | is not escaped",
        "\\u0009is late               | \\u00g9                      | is not a digit",
        "weft-5                       | weft\\e5                     | is not escaped",
        "event\\t3                    | operation\\t3                | line 18:",
        "end\\t4                      | end\\t3                      | the number of operations",
        "end\\t4                      | end\\t4\\n                   | something follows",
      })
  void invalidTextIsRefusedWithItsLine(String in, String with, String message) throws IOException {
    String from = in.replace("\\t", "\t");
    String to = with.replace("\\t", "\t").replace("\\n", "\n").replace("\\e", "\u001b");
    assertThat(golden()).contains(from);
    String text = golden().replace(from, to);
    assertThatThrownBy(() -> FlightLog.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aTruncatedLogIsRefused() throws IOException {
    String golden = golden();
    for (int end = 0; end < golden.length(); end++) {
      String cut = golden.substring(0, end);
      assertThatThrownBy(() -> FlightLog.parse(cut)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void tooLongLinesAndTextsAreRefused() throws IOException {
    String golden = golden();
    String line = golden.replace("weft-5", "w".repeat(1 << 16));
    assertThatThrownBy(() -> FlightLog.parse(line)).hasMessageContaining("at most 65536");
    String text = golden + "#\n".repeat(1 << 21);
    assertThatThrownBy(() -> FlightLog.parse(text)).hasMessageContaining("at most 4194304");
    String lists = golden.replace("of\t4", "of\t65536").replace("end\t4\n", "");
    String operation =
        lists.substring(lists.indexOf("operation\t1542")).replace("0-1,3", "0-65535");
    String many = lists + operation.repeat(20);
    assertThatThrownBy(() -> FlightLog.parse(many)).hasMessageContaining("more than");
  }

  @Test
  void mutatedTextIsReadOrRefused() throws IOException {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    var random = new Random(seed);
    String golden = golden();
    for (int i = 0; i < 5_000; i++) {
      var text = new StringBuilder(golden);
      for (int change = random.nextInt(3); change >= 0; change--) {
        int at = random.nextInt(text.length());
        switch (random.nextInt(3)) {
          case 0 -> text.setCharAt(at, (char) random.nextInt(0x110));
          case 1 -> text.deleteCharAt(at);
          default -> text.insert(at, golden.charAt(random.nextInt(golden.length())));
        }
      }
      try {
        assertThat(FlightLog.parse(text.toString())).isNotNull();
      } catch (IllegalArgumentException refused) {
        assertThat(refused.getMessage()).as("seed " + seed).startsWith("line ");
      }
    }
  }

  @Test
  void listsOfRanksTakeOnlyTheMemoryOfTheirText() {
    List<Integer> all = RankList.read("0-59999,7,60000-65534", 1 << 16, 1 << 20);
    assertThat(all).hasSize(65_536).startsWith(0, 1).endsWith(65_533, 65_534).contains(60_000);
    assertThat(all.get(60_000)).isEqualTo(7);
    assertThat(RankList.copyOf(all)).isSameAs(all);
    List<List<Integer>> many = new ArrayList<>();
    for (int i = 0; i < 200_000; i++) {
      many.add(RankList.read("0-65534", 1 << 16, 1 << 20)); // 200 GB if each stored its ranks
    }
    assertThat(many.getLast()).isEqualTo(many.getFirst()).hasSize(65_535);
    assertThatThrownBy(() -> all.set(0, 1)).isInstanceOf(UnsupportedOperationException.class);
  }
}
