// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.launch.doctor.CheckResult;
import io.weft.launch.doctor.Doctor;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `weft doctor`: prints the checks of this machine.
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = "Checks this machine and prints each finding, with reason and remedy.",
    footer = {"", "Example:", "  weft doctor --json report.json"})
final class DoctorCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--json", paramLabel = "FILE", description = "also write one JSON object")
  private @Nullable Path json;

  DoctorCommand() {}

  record Report(String weftVersion, List<CheckResult> findings) {}

  @Override
  public Integer call() {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    List<CheckResult> findings = Doctor.examine();
    findings.forEach(finding -> command.commandLine().getOut().print(line(finding)));
    command.commandLine().getOut().flush();
    JsonReport.write(command, json, new Report(new Version().getVersion()[0], findings));
    return ExitCodes.DONE;
  }

  private static String line(CheckResult finding) {
    String verdict =
        switch (finding.verdict()) {
          case WORKS -> "ok";
          case LIMITED -> "limited";
          case MISSING -> "MISSING";
        };
    String text =
        String.format(
            Locale.ROOT,
            "%-10s  %-25s  %-7s  %s%n",
            finding.area(),
            finding.subject(),
            verdict,
            finding.detail());
    return finding.remedy().isEmpty()
        ? text
        : text + " ".repeat(48) + "-> " + finding.remedy() + "\n";
  }
}
