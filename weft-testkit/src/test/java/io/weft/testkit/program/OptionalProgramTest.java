// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OptionalProgramTest {

  @TempDir private Path bin;

  private void program(String name, String body) throws IOException {
    Path file = Files.writeString(bin.resolve(name), "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  private ScriptRunner here() {
    return new ScriptRunner(bin.toString());
  }

  /// Creates a fake compiler, which succeeds for any source.
  private void compiler(String name) throws IOException {
    program(name, "echo '#!/bin/sh' > a.out; /bin/chmod +x a.out");
  }

  @ParameterizedTest
  @EnumSource
  void allHidesEachProgram(OptionalProgram program) {
    assertThat(program.missing("all", here()))
        .hasValueSatisfying(
            why -> assertThat(why).endsWith("is hidden by -Dweft.test.without=all"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SSHD") // looked for at a fixed place
  void eachProgramIsMissingOnAnEmptyPath(OptionalProgram program) {
    assertThat(program.missing("", here()))
        .hasValueSatisfying(
            why -> assertThat(why).contains("is not usable here: ").contains("; apt-get install "));
  }

  @Test
  void aNameHidesItsProgramAndTheProgramsThatNeedIt() throws IOException {
    compiler("g++");
    compiler("gcc");
    assertThat(OptionalProgram.GLOO.missing("", here())).isEmpty();
    assertThat(OptionalProgram.GLOO.missing("gcc, chromium", here())).isEmpty();
    assertThat(OptionalProgram.GLOO.missing("chromium, gloo", here())).isPresent();
    assertThat(OptionalProgram.GLOO.missing("g++", here()))
        .contains("g++ is hidden by -Dweft.test.without=g++");
    assertThat(OptionalProgram.GCC.missing("g++", here())).isEmpty();
  }

  @Test
  void anUnknownNameIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> OptionalProgram.GCC.missing("glo", here()))
        .withMessageStartingWith(
            "-Dweft.test.without=glo: unknown optional program 'glo'; expected all,"
                + " chromium,");
  }

  @Test
  void aLibraryWithoutItsHeadersIsNotUsable() throws IOException {
    compiler("gcc");
    program("mpirun", "exit 0");
    program("mpicc", "echo 'a.c:1:10: fatal error: mpi.h: No such file' >&2; exit 1");
    assertThat(OptionalProgram.MPIRUN.missing("", here())).isEmpty();
    assertThat(OptionalProgram.OPENMPI.missing("", here()))
        .contains(
            "openmpi is not usable here: a.c:1:10: fatal error: mpi.h: No such file;"
                + " apt-get install openmpi-bin libopenmpi-dev gcc");
  }

  @Test
  void aProgramThatFailsIsNotUsable() throws IOException {
    program("mpirun", "echo 'no slots' >&2; exit 213");
    assertThat(OptionalProgram.MPIRUN.missing("", here()))
        .contains("mpirun is not usable here: no slots; apt-get install openmpi-bin");
  }
}
