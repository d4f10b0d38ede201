// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.file.ForeignDirectory;
import io.weft.file.NewFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/// A peer's C or C++ source among the resources. It is compiled once for each content and compiler.
///
/// @param owner a class of the resources' package
/// @param source file name of the source
/// @param headers file names of the included resources
/// @param flags the compiler's flags, including libraries
/// @param cache directory for compiled programs, which must be private to the user who runs them
public record CProgram(
    Class<?> owner, String source, List<String> headers, List<String> flags, Path cache) {

  private static final Duration LIMIT = Duration.ofMinutes(1);

  /// Copies the lists.
  public CProgram {
    headers = List.copyOf(headers);
    flags = List.copyOf(flags);
  }

  /// Returns the directory of the user's compiled programs: `$XDG_CACHE_HOME/weft/perf`, else
  /// `~/.cache/weft/perf`.
  public static Path userCache() {
    String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", "");
    Path home = Path.of(System.getProperty("user.home"));
    Path base = cache.isEmpty() ? home.resolve(".cache") : Path.of(cache);
    return base.resolve("weft").resolve("perf");
  }

  /// Returns the program and compiles it first if necessary. If the compiler fails, throws
  /// `PerfException.Missing` with `user`, the compiler's output and `remedy`.
  public Path compiledBy(String user, Path compiler, String remedy) throws InterruptedException {
    try {
      String stem = source.substring(0, source.lastIndexOf('.'));
      Path program = cache.resolve(stem + "-" + digest(compiler));
      if (!Files.isExecutable(program)) {
        compile(user, compiler, program, remedy);
      }
      return program;
    } catch (IOException e) {
      throw new PerfException.Missing(
          "cannot keep compiled programs in %s: %s; set XDG_CACHE_HOME to a directory of yours"
              .formatted(cache, e));
    }
  }

  private void compile(String user, Path compiler, Path program, String remedy)
      throws IOException, InterruptedException {
    ForeignDirectory.make(cache);
    Path directory = Files.createTempDirectory(cache, "build-");
    Path fresh = directory.resolve("program");
    try {
      for (String file : files()) {
        NewFile.write(directory.resolve(file), contents(file));
      }
      List<String> command =
          new ArrayList<>(
              List.of(
                  compiler.toString(),
                  "-O2",
                  "-o",
                  fresh.toString(),
                  directory.resolve(source).toString()));
      command.addAll(flags);
      Child.ChildOutput outcome = Child.run(command, LIMIT);
      if (outcome.exit() != 0) {
        throw new PerfException.Missing(
            "%s: %s cannot compile its program %s, so a part of it is not installed%s%n%s"
                .formatted(user, compiler, source, remedy, outcome.lastWords()));
      }
      // The move is atomic because two commands may compile at the same time.
      Files.move(fresh, program, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      for (String file : files()) {
        Files.deleteIfExists(directory.resolve(file));
      }
      Files.deleteIfExists(fresh);
      Files.deleteIfExists(directory);
    }
  }

  private List<String> files() {
    return Stream.concat(Stream.of(source), headers.stream()).toList();
  }

  private byte[] contents(String file) throws IOException {
    try (InputStream in = owner.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("resource " + file + " is not in this build");
      }
      return in.readAllBytes();
    }
  }

  private String digest(Path compiler) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (String file : files()) {
        digest.update(contents(file));
      }
      digest.update(compiler.toRealPath().toString().getBytes(StandardCharsets.UTF_8));
      digest.update(
          Files.getLastModifiedTime(compiler).toString().getBytes(StandardCharsets.UTF_8));
      digest.update(flags.toString().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest.digest(), 0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
