// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.doctor.CheckResult.CheckVerdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramChecksTest {

  @TempDir private Path bin;

  private Optional<Path> mpicc(String body) throws IOException {
    Path file = Files.writeString(bin.resolve("mpicc"), "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    return Optional.of(file);
  }

  @Test
  void aCompilerWithoutTheHeadersOfOpenMpiIsLimited() throws IOException {
    CheckResult result =
        ProgramChecks.compiler(mpicc("echo 'fatal error: mpi.h: No such file' >&2; exit 1"));
    assertThat(result.verdict()).isEqualTo(CheckVerdict.LIMITED);
    assertThat(result.detail()).contains("does not compile mpi.h");
    assertThat(result.remedy()).isEqualTo("install libopenmpi-dev");
  }

  @Test
  void aCompilerThatFindsTheHeadersWorks() throws IOException {
    CheckResult result = ProgramChecks.compiler(mpicc("[ \"$(cat)\" = '#include <mpi.h>' ]"));
    assertThat(result.verdict()).isEqualTo(CheckVerdict.WORKS);
  }

  @Test
  void aMissingCompilerIsReported() {
    CheckResult result = ProgramChecks.compiler(Optional.empty());
    assertThat(result.detail()).startsWith("not found; it is for Open MPI");
  }
}
