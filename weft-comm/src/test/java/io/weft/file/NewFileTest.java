// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class NewFileTest {

  private static final byte[] CONTENT = "content".getBytes(StandardCharsets.US_ASCII);

  @TempDir Path directory;

  /// A process that begins a given file, reports that it has begun, and waits to be killed.
  static final class Writer {

    private Writer() {}

    public static void main(String[] arguments) throws IOException {
      NewFile begun = NewFile.begin(Path.of(arguments[0]));
      begun.stream().write(1);
      System.out.println("begun");
      int unused = System.in.read();
      begun.close();
    }
  }

  /// A process that writes lines to its standard output, two of them by the name of the stream.
  static final class Printer {

    private Printer() {}

    public static void main(String[] arguments) throws IOException {
      for (Path stream : List.of(Path.of("/dev/stdout"), Path.of("/dev/stderr"))) {
        System.out.println(NewFile.obstacle(stream));
        NewFile.write(stream, (stream + "\n").getBytes(StandardCharsets.US_ASCII));
      }
      System.out.println("open");
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void aPipeInPlaceOfTheDirectoryIsNotOpened() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    NewFile.sweep(pipe, Pattern.compile(".*"));
    assertThat(names()).containsExactly("pipe");
  }

  @Test
  void anObstacleIsReported() throws Exception {
    Path file = directory.resolve("report.json");
    assertThat(NewFile.obstacle(file)).isEmpty();
    assertThat(NewFile.obstacle(directory)).contains("it is a directory, not a regular file");
    assertThat(NewFile.obstacle(Path.of("/"))).contains("it is a directory, not a regular file");
    assertThat(NewFile.obstacle(directory.resolve("no/report.json")))
        .contains("there is no directory " + directory.resolve("no"));
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThat(NewFile.obstacle(pipe))
        .contains("it is a FIFO, a socket or a device, not a regular file");
  }

  @Test
  void aFileAppearsCompleteOrNotAtAll() throws IOException {
    Path file = Files.writeString(directory.resolve("report.json"), "before");
    try (NewFile begun = NewFile.begin(file)) {
      begun.stream().write(CONTENT);
      assertThat(file).hasContent("before");
      assertThat(names()).hasSize(2);
      begun.publishDurably();
    }
    assertThat(file).hasBinaryContent(CONTENT);
    assertThat(names()).containsExactly("report.json");
    assertThatThrownBy(
            () ->
                NewFile.write(
                    file,
                    out -> {
                      out.write(1);
                      throw new IOException("torn");
                    }))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("torn");
    assertThat(file).hasBinaryContent(CONTENT);
    assertThat(names()).containsExactly("report.json");
  }

  @Test
  void namesOfUnfinishedFilesAreUnpredictable() throws IOException {
    Path file = directory.resolve("report.json");
    try (NewFile one = NewFile.begin(file);
        NewFile other = NewFile.begin(file)) {
      assertThat(names())
          .hasSize(2)
          .allMatch(name -> name.matches("\\.report\\.json\\.[0-9a-f]{16}-[0-9a-f]{16}\\.tmp"));
      other.publish();
      one.publish();
    }
    assertThat(names()).containsExactly("report.json");
  }

  @Test
  void linksWithGuessedTemporaryNamesAreNotFollowed() throws IOException {
    Path victim = Files.writeString(directory.resolve("victim"), "mine");
    for (String guess : List.of(".report.json.tmp", ".report.json.1.tmp")) {
      Files.createSymbolicLink(directory.resolve(guess), victim);
    }
    NewFile.write(directory.resolve("report.json"), CONTENT);
    assertThat(victim).hasContent("mine");
  }

  @Test
  void onlyLinksOfTheUserAndOnlyToRegularFilesAreFollowed() throws IOException {
    Path real = Files.writeString(directory.resolve("real"), "before");
    Path link = Files.createSymbolicLink(directory.resolve("link"), real);
    NewFile.write(link, CONTENT);
    assertThat(real).hasBinaryContent(CONTENT);
    assertThat(link).isSymbolicLink();
    Path device = Files.createSymbolicLink(directory.resolve("device"), Path.of("/dev/null"));
    assertThatThrownBy(() -> NewFile.write(device, CONTENT)).hasMessageContaining("not a regular");
    assertThatThrownBy(() -> NewFile.write(Path.of("/dev/null"), CONTENT))
        .hasMessageContaining("/dev/null")
        .hasMessageContaining("not a regular file");
    assertThatThrownBy(() -> NewFile.write(directory, CONTENT)).hasMessageContaining("directory");
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give links away");
    Files.setAttribute(link, "unix:uid", 65_534, java.nio.file.LinkOption.NOFOLLOW_LINKS);
    Files.setAttribute(directory, "unix:uid", 65_533);
    assertThatThrownBy(() -> NewFile.write(link, new byte[3])).hasMessageContaining("link");
    assertThat(real).hasBinaryContent(CONTENT);
  }

  @Test
  void standardStreamsAreWrittenAndStayOpen() throws Exception {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    String classes = System.getProperty("java.class.path");
    Path both = directory.resolve("both");
    Process printer =
        new ProcessBuilder(java.toString(), "-cp", classes, Printer.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(both.toFile())
            .start();
    assertThat(printer.waitFor()).isZero();
    assertThat(Files.readAllLines(both))
        .containsSubsequence(
            "Optional.empty", "/dev/stdout", "Optional.empty", "/dev/stderr", "open");
  }

  @Test
  void privateFilesArePrivateFromTheirFirstByteOn() throws IOException {
    Path file = directory.resolve("secret");
    try (NewFile begun = NewFile.beginPrivate(file)) {
      assertThat(mode(directory.resolve(names().getFirst()))).isEqualTo("rw-------");
      begun.publish();
    }
    assertThat(mode(file)).isEqualTo("rw-------");
    Path created = directory.resolve("created");
    NewFile.createPrivate(created, CONTENT);
    assertThat(mode(created)).isEqualTo("rw-------");
    assertThatThrownBy(() -> NewFile.createPrivate(created, new byte[1]))
        .isInstanceOf(FileAlreadyExistsException.class);
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory.resolve("target"));
    assertThatThrownBy(() -> NewFile.createPrivate(link, CONTENT)).isInstanceOf(IOException.class);
    assertThat(directory.resolve("target")).doesNotExist();
  }

  @Test
  void aFileThatIsReplacedKeepsItsPermissions() throws IOException {
    Path file = Files.writeString(directory.resolve("report.json"), "before");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    NewFile.write(file, CONTENT);
    assertThat(mode(file)).isEqualTo("rw-r-----");
  }

  @Test
  void filesOfAKilledProcessAreSweptAndFilesOfALivingOneAreNot() throws Exception {
    Path file = directory.resolve("report.json");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-Xshare:auto",
                Writer.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (NewFile own = NewFile.begin(file)) {
      try (var lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
        assertThat(lines.readLine()).isEqualTo("begun");
        NewFile.sweep(file);
        assertThat(names()).as("of this process and of a living one").hasSize(2);
        NewFile.sweep(directory, Pattern.compile("another"));
        process.destroyForcibly();
        assertThat(process.waitFor()).isNotZero();
      }
      NewFile.sweep(directory.resolve("other.json"));
      assertThat(names()).hasSize(2);
      NewFile.sweep(file);
      assertThat(names()).as("of this process").hasSize(1);
      own.publish();
    } finally {
      process.destroyForcibly();
    }
    assertThat(names()).containsExactly("report.json");
  }

  @Test
  void aPipeWithATemporaryNameIsNotSwept() throws Exception {
    Path fifo = directory.resolve(".report.json.0123456789abcdef-0123456789abcdef.tmp");
    assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
    NewFile.sweep(directory.resolve("report.json"));
    assertThat(fifo).exists();
  }
}
