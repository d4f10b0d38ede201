// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import io.weft.launch.process.Programs;
import java.util.List;

/// Programs that parts of Weft call.
final class ProgramChecks {

  private static final String AREA = "program";

  private ProgramChecks() {}

  static List<CheckResult> look() {
    return List.of(
        program("ssh", "ranks on other hosts", "install openssh-client"),
        program("setpriv", "ranks that die with their launcher", "install util-linux"),
        program("setsid", "ranks that Ctrl-C does not reach", "install util-linux"),
        program(
            "mpirun", "Open MPI as launcher and as peer in measurements", "install openmpi-bin"),
        program("mpicc", "Open MPI as peer in measurements", "install libopenmpi-dev"));
  }

  private static CheckResult program(String name, String needed, String remedy) {
    return Programs.find(name)
        .map(path -> CheckResult.works(AREA, name, path.toString()))
        .orElseGet(() -> CheckResult.limited(AREA, name, "not found; it is for " + needed, remedy));
  }
}
