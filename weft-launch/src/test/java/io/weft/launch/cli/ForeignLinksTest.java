// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that commands do not change the targets of links that another user has put at their
/// output paths.
@Timeout(60)
class ForeignLinksTest {

  private static final int SOMEBODY = 65_534;

  @TempDir private Path directory;

  private Path victim;

  private static void give(Path path) throws IOException {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give files away");
    Files.setAttribute(path, "unix:uid", SOMEBODY, LinkOption.NOFOLLOW_LINKS);
  }

  private String run(int code, String... arguments) throws Exception {
    Path output = directory.resolve("output");
    Process command =
        CommandProcess.of(arguments)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = command.waitFor(40, TimeUnit.SECONDS);
    command.destroyForcibly();
    String said = Files.readString(output);
    assertThat(ended).as(said).isTrue();
    assertThat(command.exitValue()).as(said).isEqualTo(code);
    assertThat(said).doesNotContain("\tat ", "Exception");
    assertThat(victim).hasContent("mine");
    return said;
  }

  private Path theirs(List<String> links) throws IOException {
    victim = Files.writeString(directory.resolve("victim"), "mine");
    Path theirs = Files.createDirectory(directory.resolve("theirs"));
    Path rank = Files.createDirectory(theirs.resolve("rank.0"));
    for (String link : links) {
      Files.createSymbolicLink(rank.resolve(link), victim);
    }
    give(theirs);
    give(rank);
    return theirs;
  }

  @Test
  void outputOfARankIsNotWrittenThroughLinks() throws Exception {
    Path theirs = theirs(List.of("stdout", "stderr", "exit"));
    String said =
        run(
            ExitCodes.WRONG_USAGE,
            "run",
            "-np",
            "1",
            "--output-dir",
            theirs.toString(),
            "--",
            "id");
    assertThat(said).contains("rank.0/stdout", "symbolic link").doesNotContain("uid=");
  }

  @Test
  void exitCodeOfARankIsNotWrittenThroughALink() throws Exception {
    Path theirs = theirs(List.of("exit"));
    String said = run(0, "run", "-np", "1", "--output-dir", theirs.toString(), "--", "id");
    assertThat(said).contains("its exit code, 0,", "symbolic link", "uid=");
    assertThat(theirs.resolve("rank.0/stdout")).content().contains("uid=");
  }

  @Test
  void directoryOfARankIsNotReachedThroughALink() throws Exception {
    Path theirs = theirs(List.of());
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Files.createSymbolicLink(theirs.resolve("rank.1"), elsewhere);
    run(ExitCodes.WRONG_USAGE, "run", "-np", "2", "--output-dir", theirs.toString(), "--", "id");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void flightFilesAreNotWrittenThroughALink() throws Exception {
    Path theirs = theirs(List.of());
    Files.createSymbolicLink(theirs.resolve("flights"), directory);
    String there = theirs.resolve("flights").toString();
    String said = run(ExitCodes.WRONG_USAGE, "run", "-np", "1", "--flight-dir", there, "--", "id");
    assertThat(said).contains("symbolic link").doesNotContain("uid=");
  }

  @Test
  void reportOfTheDoctorIsNotWrittenThroughALink() throws Exception {
    Path theirs = theirs(List.of("report.json"));
    String file = theirs.resolve("rank.0/report.json").toString();
    assertThat(run(ExitCodes.WRONG_USAGE, "doctor", "--json", file)).contains("symbolic link");
  }
}
