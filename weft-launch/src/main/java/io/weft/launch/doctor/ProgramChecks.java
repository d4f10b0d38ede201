// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import io.weft.launch.process.Programs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Checks the programs that parts of Weft call.
final class ProgramChecks {

  private static final String AREA = "program";
  private static final int LIMIT_SECONDS = 10;

  private ProgramChecks() {}

  static List<CheckResult> look() {
    return List.of(
        program("ssh", "ranks on other hosts", "install openssh-client"),
        program("setpriv", "ranks that die with their launcher", "install util-linux"),
        program("setsid", "ranks that Ctrl-C does not reach", "install util-linux"),
        program(
            "mpirun", "Open MPI as launcher and as peer in measurements", "install openmpi-bin"),
        compiler(Programs.find("mpicc")));
  }

  /// Checks that Open MPI's compiler finds its header, because `openmpi-bin` has the compiler
  /// without the header.
  static CheckResult compiler(Optional<Path> mpicc) {
    String needed = "it is for Open MPI as peer in measurements";
    String remedy = "install libopenmpi-dev";
    if (mpicc.isEmpty()) {
      return CheckResult.limited(AREA, "mpicc", "not found; " + needed, remedy);
    }
    String detail = mpicc.get().toString();
    try {
      Process process =
          new ProcessBuilder(detail, "-fsyntax-only", "-x", "c", "-")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (var source = process.getOutputStream()) {
        source.write("#include <mpi.h>\n".getBytes(StandardCharsets.UTF_8));
      } catch (IOException ended) {
        detail += " (" + ended.getMessage() + ")"; // it ended before it read its input
      }
      boolean over = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      process.destroyForcibly();
      return over && process.exitValue() == 0
          ? CheckResult.works(AREA, "mpicc", mpicc.get().toString())
          : CheckResult.limited(
              AREA, "mpicc", detail + " does not compile mpi.h; " + needed, remedy);
    } catch (IOException refused) {
      return CheckResult.limited(
          AREA, "mpicc", detail + " does not start: " + refused.getMessage(), remedy);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return CheckResult.limited(AREA, "mpicc", detail + " was interrupted", remedy);
    }
  }

  private static CheckResult program(String name, String needed, String remedy) {
    return Programs.find(name)
        .map(path -> CheckResult.works(AREA, name, path.toString()))
        .orElseGet(() -> CheckResult.limited(AREA, name, "not found; it is for " + needed, remedy));
  }
}
