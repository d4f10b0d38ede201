// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// What jobs are made of, and how they are harmed.
///
/// @param launcher the `weft` command and its subcommand, without options
/// @param program what comes behind the launcher's options
/// @param ranks at least 2, for a partition 4
/// @param working what a rank prints when it has begun to work
/// @param spread the harm comes at most so long after the job could be harmed
/// @param limit how soon all survivors must have ended after harm that the system tells of
/// @param silence the same for harm that only silence shows
/// @param directory where repetitions keep their files; those of failed ones stay
public record FaultScenario(
    List<String> launcher,
    List<String> program,
    int ranks,
    String working,
    Duration spread,
    Duration limit,
    Duration silence,
    Path directory) {

  /// Copies the lists.
  public FaultScenario {
    launcher = List.copyOf(launcher);
    program = List.copyOf(program);
  }
}
