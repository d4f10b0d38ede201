// SPDX-License-Identifier: Apache-2.0
import com.google.googlejavaformat.java.Main;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// Formats every Java source below the current directory with google-java-format, or checks with
/// `--check` that each is formatted. Runs on the build's JDK and not in Maven's process, because
/// the formatter parses with the compiler of the JDK it runs on. Remembers the digests of files
/// found formatted, so that only changed files cost time.
///
/// Exit status: 0 all is formatted, 1 some file is not or cannot be parsed; it is named.
final class Format {

  private static final Path FORMATTED = Path.of("target", "format", "formatted.txt");

  private Format() {}

  public static void main(String[] args) throws Exception {
    boolean check = args.length > 0 && args[0].equals("--check");
    Set<String> formatted = new TreeSet<>();
    if (Files.exists(FORMATTED)) {
      formatted.addAll(Files.readAllLines(FORMATTED));
    }
    Map<String, String> changed = sources();
    changed.values().removeAll(formatted);
    if (changed.isEmpty()) {
      return;
    }
    List<String> command = new ArrayList<>();
    command.addAll(check ? List.of("--dry-run", "--set-exit-if-changed") : List.of("--replace"));
    command.addAll(changed.keySet());
    StringWriter unformatted = new StringWriter();
    StringWriter problems = new StringWriter();
    int status =
        new Main(
                new PrintWriter(unformatted, true),
                new PrintWriter(problems, true),
                InputStream.nullInputStream())
            .format(command.toArray(String[]::new));
    problems.toString().lines().forEach(System.err::println);
    for (String file : unformatted.toString().lines().toList()) {
      System.err.println("not formatted: " + file);
      changed.remove(file);
    }
    if (status != 0 && check) {
      System.err.println("mend: tools/format");
    }
    if (problems.toString().isEmpty() && check) {
      formatted.addAll(changed.values());
      Files.createDirectories(FORMATTED.getParent());
      Files.write(FORMATTED, formatted);
    }
    System.exit(status);
  }

  /// Path to digest of content and formatter, of all sources.
  private static Map<String, String> sources() throws Exception {
    String formatter =
        Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .getFileName()
            .toString();
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    Map<String, String> files = new TreeMap<>();
    Files.walkFileTree(
        Path.of(""),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = folder.getFileName().toString();
            boolean ours = !name.equals("target") && !name.startsWith(".");
            return ours ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (file.toString().endsWith(".java")) {
              digest.update(formatter.getBytes(StandardCharsets.UTF_8));
              files.put(
                  file.toString(),
                  HexFormat.of().formatHex(digest.digest(Files.readAllBytes(file))));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }
}
