// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.comm.CommException;
import io.weft.config.ConfigOption;
import io.weft.launch.job.JobFailed;
import io.weft.launch.process.StandardOutput;
import io.weft.text.Printable;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.Unmatched;
import picocli.CommandLine.UnmatchedArgumentException;

/// The entry point of the `weft` command. It prints each error on one line, and the stack trace
/// only if WEFT_DEBUG is set.
public final class Main {

  /// The character with which Java replaces bytes that it cannot decode.
  static final char UNREADABLE = '\uFFFD';

  private Main() {}

  /// Runs a command line and ends the process with its exit code.
  public static void main(String[] arguments) {
    System.exit(run(commandLine(), arguments));
  }

  static CommandLine commandLine() {
    CommandLine line = new CommandLine(new WeftCommand());
    for (Subcommand more : ServiceLoader.load(Subcommand.class)) {
      line.addSubcommand(more.commandLine());
    }
    for (String name : List.of("perf", "plan", "reproduce")) {
      if (!line.getSubcommands().containsKey(name)) {
        line.addSubcommand(name, new AbsentCommand(name));
      }
    }
    ConfigFlags.add(line.getSubcommands().get("run"), List.of());
    ConfigFlags.add(line.getSubcommands().get("train"), TrainCommand.OWN_OPTIONS);
    // Words after the program's name belong to the program, as with mpirun, so '--' is optional.
    Objects.requireNonNull(line.getSubcommands().get("run")).setStopAtPositional(true);
    line.setParameterExceptionHandler((wrong, given) -> wrongUsage(wrong));
    line.setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, command));
    line.setUsageHelpWidth(100);
    line.registerConverter(Path.class, Main::file);
    return line;
  }

  /// Returns the file. In other commands '-' is standard output; here it would be a file of that
  /// name.
  private static Path file(String text) {
    if (text.equals("-")) {
      throw new TypeConversionException(
          "'-' is not taken for standard output; give the name of a file (./- is one)");
    }
    return Path.of(text);
  }

  static int run(CommandLine line, String... arguments) {
    return run(line, System.getProperty("user.dir", ""), arguments);
  }

  /// @param directory the current directory, as Java decodes its name
  static int run(CommandLine line, String directory, String... arguments) {
    if (directory.indexOf(UNREADABLE) >= 0) {
      PrintWriter err = line.getErr();
      err.println(
          "weft: the name of the current directory is not text in this locale's encoding ("
              + System.getProperty("sun.jnu.encoding")
              + "), and files would be written elsewhere; set LC_ALL=C.UTF-8, or go to another"
              + " directory");
      err.flush();
      return ExitCodes.WRONG_USAGE;
    }
    for (String argument : arguments) {
      if (argument.indexOf(UNREADABLE) >= 0) {
        PrintWriter err = line.getErr();
        err.println(
            "weft: the argument '"
                + Printable.of(argument)
                + "' is not text in this locale's encoding ("
                + System.getProperty("sun.jnu.encoding")
                + ") and would reach the ranks as another one; set LC_ALL=C.UTF-8, or use ASCII");
        err.flush();
        return ExitCodes.WRONG_USAGE;
      }
    }
    int code = line.execute(arguments);
    boolean lost = line.getOut().checkError() || System.out.checkError();
    if (lost && code == ExitCodes.DONE) {
      line.getErr()
          .println("weft: standard output did not take all of it: " + StandardOutput.reason());
      line.getErr().flush();
      return ExitCodes.FAILED;
    }
    return code;
  }

  private static int wrongUsage(ParameterException wrong) {
    CommandLine command = wrong.getCommandLine();
    PrintWriter err = command.getErr();
    Optional<String> unknown = Hints.unknownCommand(wrong);
    err.println("weft: " + Printable.of(unknown.orElse(String.valueOf(wrong.getMessage()))));
    if (unknown.isEmpty()) {
      Hints.after(wrong).forEach(err::println);
    }
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
    debug(wrong, err);
    err.flush();
    return ExitCodes.WRONG_USAGE;
  }

  private static int failed(Exception failure, CommandLine command) {
    PrintWriter err = command.getErr();
    String message = failure.getMessage();
    boolean expected =
        failure instanceof CommException
            || failure instanceof JobFailed
            || failure instanceof MissingRequirement;
    err.println(
        "weft: " + Printable.of(expected && message != null ? message : failure.toString()));
    debug(failure, err);
    if (!expected && System.getenv("WEFT_DEBUG") == null) {
      err.println("weft: this should not happen; set WEFT_DEBUG=1 to see where");
    }
    err.flush();
    return switch (failure) {
      // The failure names ranks that are missing or have other settings.
      case CommException.Setup setup when !setup.ranks().isEmpty() -> ExitCodes.FAILED;
      case CommException.Setup setup -> ExitCodes.WRONG_USAGE;
      case MissingRequirement missing -> ExitCodes.MISSING;
      default -> ExitCodes.FAILED;
    };
  }

  private static void debug(Exception failure, PrintWriter err) {
    if (System.getenv("WEFT_DEBUG") != null) {
      failure.printStackTrace(err);
    }
  }

  /// The hints after a wrong command line: the option or command that was probably meant.
  private static final class Hints {

    private Hints() {}

    /// Returns the nearest option for an unknown one: at most one line.
    static List<String> after(ParameterException wrong) {
      return unmatched(wrong)
          .filter(word -> word.startsWith("-"))
          .flatMap(word -> ConfigOption.nearest(word, spec(wrong).optionsMap().keySet()))
          .map(name -> "Did you mean: " + name + "?")
          .stream()
          .toList();
    }

    /// Returns the message for an unknown command, with the nearest one.
    static Optional<String> unknownCommand(ParameterException wrong) {
      Map<String, CommandLine> known = spec(wrong).subcommands();
      return unmatched(wrong)
          .filter(word -> !word.startsWith("-") && !known.isEmpty())
          .map(
              word ->
                  "no command '"
                      + word
                      + "'; "
                      + near(word, known)
                          .map(name -> "did you mean " + name + "?")
                          .orElse("there are " + String.join(", ", known.keySet())));
    }

    /// Returns the nearest command or subcommand: `trace flight` for `flight`.
    private static Optional<String> near(String word, Map<String, CommandLine> known) {
      return known.entrySet().stream()
          .filter(command -> command.getValue().getSubcommands().containsKey(word))
          .map(command -> command.getKey() + " " + word)
          .findFirst()
          .or(() -> ConfigOption.nearest(word, known.keySet()))
          .or(
              () ->
                  known.keySet().stream()
                      .filter(name -> Arrays.equals(letters(name), letters(word)))
                      .findFirst());
    }

    /// Returns the sorted letters, so that transposed letters do not matter.
    private static int[] letters(String word) {
      return word.chars().sorted().toArray();
    }

    private static CommandSpec spec(ParameterException wrong) {
      return wrong.getCommandLine().getCommandSpec();
    }

    private static Optional<String> unmatched(ParameterException wrong) {
      return wrong instanceof UnmatchedArgumentException unmatched
              && !unmatched.getUnmatched().isEmpty()
          ? Optional.of(unmatched.getUnmatched().getFirst().replaceFirst("=.*", ""))
          : Optional.empty();
    }
  }

  /// A command of weft-perf without its jar on the class path.
  @Command(description = "Measures or simulates; needs the jar of weft-perf.")
  private static final class AbsentCommand implements Callable<Integer> {

    private final String name;

    @Unmatched private List<String> arguments = new ArrayList<>();

    AbsentCommand(String name) {
      this.name = name;
    }

    @Override
    public Integer call() {
      throw new MissingRequirement(
          name
              + " "
              + String.join(" ", arguments)
              + ": no benchmarks on the class path; add the jar of weft-perf");
    }
  }
}
