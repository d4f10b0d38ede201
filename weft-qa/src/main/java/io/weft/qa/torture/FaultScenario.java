// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// The parts of a job and the limits on its end after harm.
///
/// @param launcher the `weft` command and its subcommand, without options
/// @param program the words after the launcher's options
/// @param ranks number of ranks, at least 2, for a partition 4
/// @param working pattern of the line that a rank prints when it has begun to work
/// @param spread longest time between the job's readiness for harm and the harm
/// @param limit time within which all survivors must have ended after harm that the system reports
/// @param silence time within which all survivors must have ended after harm that only silence
///   reveals
/// @param directory directory of the repetitions' files; those of failed repetitions remain
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
