// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;

/// A peer's C source among the resources, compiled once per content and compiler.
///
/// @param owner a class of the resource's package
/// @param resource file name of the source
/// @param cache directory for compiled programs; must be private to the user, who will run them
public record CProgram(Class<?> owner, String resource, Path cache) {

  private static final List<String> FLAGS = List.of("-std=gnu11", "-O2");
  private static final Duration LIMIT = Duration.ofMinutes(1);

  /// Where the user's compiled programs are kept: `$XDG_CACHE_HOME/weft/perf`, else
  /// `~/.cache/weft/perf`.
  public static Path userCache() {
    String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", "");
    Path home = Path.of(System.getProperty("user.home"));
    Path base = cache.isEmpty() ? home.resolve(".cache") : Path.of(cache);
    return base.resolve("weft").resolve("perf");
  }

  /// The program, compiled now if it is not there. Throws `PerfException.Missing` with the
  /// compiler's words and `remedy` if it does not compile.
  public Path compiledBy(Path compiler, String remedy) throws InterruptedException {
    try {
      byte[] source = source();
      String stem = resource.substring(0, resource.lastIndexOf('.'));
      Path program = cache.resolve(stem + "-" + digest(source, compiler));
      if (!Files.isExecutable(program)) {
        compile(source, compiler, program, remedy);
      }
      return program;
    } catch (IOException e) {
      throw new PerfException.Missing(
          "cannot keep compiled programs in %s: %s; set XDG_CACHE_HOME to a directory of yours"
              .formatted(cache, e));
    }
  }

  private void compile(byte[] source, Path compiler, Path program, String remedy)
      throws IOException, InterruptedException {
    Files.createDirectories(cache);
    Path text = Files.createTempFile(cache, "source-", ".c");
    Path fresh = Files.createTempFile(cache, "program-", "");
    try {
      Files.write(text, source);
      List<String> command =
          List.of(
              compiler.toString(),
              FLAGS.get(0),
              FLAGS.get(1),
              "-o",
              fresh.toString(),
              text.toString());
      Child.Outcome outcome = Child.run(command, LIMIT);
      if (outcome.exit() != 0) {
        throw new PerfException.Missing(
            "%s does not compile with %s%s%n%s"
                .formatted(resource, compiler, remedy, outcome.lastWords()));
      }
      // Atomic: two commands may compile at the same time.
      Files.move(fresh, program, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(text);
      Files.deleteIfExists(fresh);
    }
  }

  private byte[] source() throws IOException {
    try (InputStream in = owner.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("resource " + resource + " is not in this build");
      }
      return in.readAllBytes();
    }
  }

  private static String digest(byte[] source, Path compiler) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(source);
      digest.update(compiler.toRealPath().toString().getBytes(StandardCharsets.UTF_8));
      digest.update(
          Files.getLastModifiedTime(compiler).toString().getBytes(StandardCharsets.UTF_8));
      digest.update(FLAGS.toString().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest.digest(), 0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
