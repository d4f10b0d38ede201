// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks the ranks, links and refusals of `tools/slow-network`.
class SlowNetworkScriptTest {

  private static final String SCRIPT = Path.of("..", "tools", "slow-network").toString();

  @TempDir private Path directory;

  private record Ending(int code, String said) {}

  /// Runs the script with the directory's programs before those of the system.
  private Ending run(String... arguments) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("sh", SCRIPT));
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().merge("PATH", "", (path, none) -> directory + ":" + path);
    builder.environment().put("DIR", directory.toString());
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Ending(process.exitValue(), said);
  }

  @Test
  void helpShowsOptionsAndExamples() throws IOException, InterruptedException {
    Ending ending = run("--help");
    assertThat(ending.code()).isZero();
    assertThat(ending.said()).contains("-n RANKS", "--ranks-per-host N", "--delay TIME");
    assertThat(run("1gbit").code()).isEqualTo(ExitCodes.WRONG_USAGE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-n 1 1gbit true | -n 1: expected a number from 2 to 128",
        "-n two 1gbit true | -n two: expected a number from 2 to 128",
        "--ranks-per-host 0 1gbit true | --ranks-per-host 0: expected a number from 1 to 128",
        "-n 4 --ranks-per-host 3 1gbit true | 3 does not divide the 4 ranks",
        "--ranks-per-host 2 1gbit true | leaves one host for 2 ranks, without a link",
        "--delay 1 1gbit true | --delay 1: expected a time with its unit, such as 500us or 1ms",
        "--delay x.5ms 1gbit true | --delay x.5ms: expected a time with its unit",
        "--loss 1 1gbit true | unknown option --loss",
        "-n | -n needs a value",
        "-n 4 1gbit weft run -np 2 | one rank of 4; with -np each rank would start a separate job"
      })
  void wrongValuesAreRefusedWithASentence(String arguments, String sentence)
      throws IOException, InterruptedException {
    Ending ending = run(arguments.split(" "));
    assertThat(ending.code()).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(ending.said().lines())
        .singleElement()
        .asString()
        .startsWith("tools/slow-network: ")
        .contains(sentence);
  }

  @Test
  @Needs(OptionalProgram.NETWORKS)
  void ranksShareHostsThatABridgeJoins() throws IOException, InterruptedException {
    String rank =
        """
        echo "$(hostname) $WEFT_LOCAL_RANK/$WEFT_LOCAL_SIZE $WEFT_TRANSPORT $(taskset -cp $$ | sed 's/.* //')" > $DIR/rank$WEFT_RANK
        tc qdisc show dev eth >> $DIR/rank$WEFT_RANK
        """;
    assertThat(run("-n", "4", "--ranks-per-host", "2", "100mbit", "sh", "-c", rank))
        .isEqualTo(new Ending(0, ""));
    List<String> hosts = new ArrayList<>();
    List<String> processors = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      List<String> told = Files.readAllLines(directory.resolve("rank" + i));
      String[] words = told.getFirst().split(" ");
      hosts.add(words[0]);
      assertThat(words[0]).endsWith("-" + i / 2);
      assertThat(words[1]).isEqualTo(i % 2 + "/2");
      assertThat(words[2]).isEqualTo("shm");
      processors.add(words[3]);
      assertThat(told.get(1)).contains("tbf", "rate 100Mbit");
    }
    assertThat(hosts.stream().distinct()).hasSize(2);
    assertThat(processors.get(1)).isEqualTo(processors.getFirst());
    assertThat(processors.get(3)).isEqualTo(processors.get(2));
    assertThat(processors.stream().distinct())
        .hasSize(Runtime.getRuntime().availableProcessors() == 1 ? 1 : 2);
  }

  @Test
  @Needs(OptionalProgram.NETWORKS)
  void twoRanksAreTheDefaultAndTheFailureOfTheSecondIsPrinted()
      throws IOException, InterruptedException {
    String rank =
        """
        echo "rank $WEFT_RANK of $WEFT_SIZE over $WEFT_TRANSPORT"
        exit $((WEFT_RANK * 9))
        """;
    assertThat(run("1gbit", "sh", "-c", rank))
        .isEqualTo(new Ending(9, "rank 0 of 2 over tcp\nrank 1 of 2 over tcp\n"));
    assertThat(run("fast", "true").said()).contains("tc takes no rate 'fast'");
  }

  /// The kernel may lack netem, so a `tc` that this test writes leaves out its calls, and the rate
  /// becomes the queue of the link itself.
  @Test
  @Needs(OptionalProgram.NETWORKS)
  void eachHostDelaysItsPackets() throws IOException, InterruptedException {
    Path tc = directory.resolve("tc");
    Files.writeString(
        tc,
        """
        #!/bin/sh
        PATH=${PATH#*:}
        printf '%s\\n' "$*" >> $DIR/calls
        case "$*" in
        *netem*) exit ;;
        esac
        exec tc $(printf '%s' "$*" | sed 's,parent 1:1,root,')
        """);
    Files.setPosixFilePermissions(tc, PosixFilePermissions.fromString("rwx------"));
    assertThat(run("-n", "3", "--delay", "1ms", "1gbit", "true")).isEqualTo(new Ending(0, ""));
    List<String> calls = Files.readAllLines(directory.resolve("calls"));
    for (int host = 0; host < 3; host++) {
      String space = "-" + host + " qdisc add dev eth ";
      assertThat(calls.stream().filter(call -> call.contains(space)))
          .satisfiesExactly(
              delay -> assertThat(delay).contains("root handle 1: netem delay 1ms"),
              rate -> assertThat(rate).contains("parent 1:1 tbf rate 1gbit"));
    }
  }
}
