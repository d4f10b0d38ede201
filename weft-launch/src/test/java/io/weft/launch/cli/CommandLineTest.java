// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.config.OptionProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class CommandLineTest {

  private final TypedCommand weft = new TypedCommand();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "run -np 0 -- true | -np is 0; it must be from 1 to 4096",
        "run -np abc -- true | 'abc' is not an int",
        "run -np 2 | Missing required parameter: 'COMMAND'",
        "run --bogus -- true | Unknown option: '--bogus'",
        "run -H h: -- true | 'h:' is not HOST or HOST:SLOTS",
        "run -np 3 -H a:1,b:1 -- true | -np 3 is more than the 2 slots",
        "run -H a --hostfile b -- true | exclude each other",
        "run --hostfile /nowhere/hosts -- true | /nowhere/hosts cannot be read",
        "run --deadline 5 -- true | option deadline: '5' from the command line",
        "run --start-deadline soon -- true | option start-deadline",
        "run -x A-B -- true | -x A-B",
        "run --eager-bytes 1M --segment-bytes 4K -- true | eager-bytes: 1048576 is more than segm",
        "run --segment-bytes 5000 -- true | 5000 is not a multiple of 64; allowed are 4992 or 5056",
        "run --transport vebs -- true | option transport: there is no 'vebs'; did you mean verbs?",
        "run --algorithms /nowhere/rules -- true | option algorithms: ",
        "run --flight-dir /proc/x -- true | --flight-dir: flight files cannot be kept in /proc/x",
        "run --output-dir /proc/x -- true | --output-dir: the directory /proc/x",
        "run --ssh true -H nohost.invalid -- true | a host's name is not known here",
        "run --secure=maybe -- true | must be one of auto, on, off",
        "doctor --json - | '-' is not taken for standard output; give the name of a file",
        "trian mnist-dnn | no command 'trian'; did you mean train?",
        "flight | no command 'flight'; did you mean trace flight?",
        "elephant | no command 'elephant'; there are ",
        "trace fligth | no command 'fligth'; did you mean flight?",
        "run nosuchprog | there is no program 'nosuchprog' in PATH",
        "run /nowhere/prog | there is no program /nowhere/prog",
        "run /proc | /proc is not an executable program",
        "run --output-dri d -- true | Did you mean: --output-dir?",
        "run --deadlin 5s -- true | Did you mean: --deadline?",
        "run -np 2 -- caf\uFFFD | is not text in this locale's encoding",
        "run --store ::1 -- true | write [::1]:PORT",
        "run --join true -- true | --join is for a process of a job that runs already",
        "run -np 3 --restart 1 -- true | --restart needs --on-failure shrink",
        "run -np 3 --on-failure shrink --restart 1-3 -- true | allowed: ranks from 0 to 2",
        "run -np 3 --on-failure shrink --restart a -- true | --restart is 'a'; allowed: ranks",
        "run -np 3 --on-failure shrink --restart 2-1 -- true | --restart is '2-1'; allowed",
        "run -np 3 --on-failure shrink --restarts 2 -- true | --restarts needs --restart",
        "run -np 3 --on-failure shrink --restart 1 --restarts 0 -- true | --restarts is 0; it must",
        "`` | which command?"
      })
  void wrongCommandLineIsReported(String line, String message) {
    int code = weft.run(line.isEmpty() ? new String[0] : line.split(" "));
    assertThat(weft.err()).contains(message).doesNotContain("\tat ");
    assertThat(weft.out()).isEmpty();
    assertThat(code).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "run", "train", "doctor", "trace"})
  void helpOfEveryCommandHasAnExample(String command) {
    String text =
        command.isEmpty()
            ? Main.commandLine().getUsageMessage()
            : Main.commandLine().getSubcommands().get(command).getUsageMessage();
    assertThat(text).contains("Example").contains("weft " + command);
  }

  @ParameterizedTest
  @CsvSource({
    "run --secure -- true, on",
    "run --secure -np 2 true, on",
    "run --secure on -- true, on",
    "run --secure=on -- true, on",
    "run --secure off -- true, off",
    "run --secure=maybe -- true, maybe",
    "run -- true,",
    "train --secure mnist-dnn, on",
    "train --secure auto mnist-dnn, auto"
  })
  void secureOptionNeedsNoValue(String line, @Nullable String mode) {
    CommandLine commands = Main.commandLine();
    commands.parseArgs(line.split(" "));
    CommandLine command = commands.getSubcommands().get(line.split(" ")[0]);
    String value = command.getCommandSpec().findOption("--secure").getValue();
    assertThat(value).isEqualTo(mode);
  }

  @Test
  void argumentsAfterTheProgramBelongToItWithoutTwoHyphens() {
    CommandLine commands = Main.commandLine();
    commands.parseArgs("run", "-np", "2", "java", "-version", "-np");
    CommandLine run = commands.getSubcommands().get("run");
    assertThat(run.getParseResult().matchedPositionals().getFirst().stringValues())
        .containsExactly("java", "-version", "-np");
  }

  @Test
  void perfNamesTheMissingJar() {
    assertThat(weft.run("perf", "allreduce", "-np", "2")).isEqualTo(3);
    assertThat(weft.err()).contains("add the jar of weft-perf");
    assertThat(weft.run("plan", "alexnet")).isEqualTo(3);
    assertThat(weft.run("reproduce", "--out", "figures")).isEqualTo(3);
  }

  @Test
  void allCommandsAreListed() {
    assertThat(weft.run("--help")).isZero();
    assertThat(weft.out()).contains("\n  java ").contains("\n  train ");
  }

  @Test
  void everySettingIsAnOptionOfRun() {
    String help = Main.commandLine().getSubcommands().get("run").getUsageMessage();
    OptionProvider.all().forEach(option -> assertThat(help).contains(option.flag()));
  }

  @Test
  void doctorPrintsAndWritesItsReport(@TempDir Path directory) throws Exception {
    Path report = directory.resolve("report.json");
    assertThat(weft.run("doctor", "--json", report.toString())).isZero();
    assertThat(weft.out()).contains("java").contains("tcp").contains("loopback");
    assertThat(Files.readString(report))
        .startsWith("{\"weftVersion\":")
        .contains("\"subject\":\"tcp\",\"verdict\":\"WORKS\"");
  }

  @Test
  void unwritableReportIsNamed() {
    assertThat(weft.run("doctor", "--json", "/nowhere/report.json")).isEqualTo(2);
    assertThat(weft.err()).contains("/nowhere/report.json");
  }
}
