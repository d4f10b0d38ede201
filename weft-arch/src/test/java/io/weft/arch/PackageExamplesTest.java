// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checks that the page of each package that Weft exports to all modules has an example, and that
/// the examples compile.
class PackageExamplesTest {

  private static final Path ROOT = Path.of("..");
  private static final List<String> MODULES =
      List.of("weft-comm", "weft-dataparallel", "weft-telemetry");
  private static final Pattern EXPORT = Pattern.compile("exports ([\\w.]+);");
  private static final Pattern EXAMPLE =
      Pattern.compile("^/// ```java\\n((?:///.*\\n)+?)/// ```$", Pattern.MULTILINE);

  /// The packages whose types examples use without a package name, besides their own.
  private static final List<String> IMPORTS =
      List.of(
          "io.weft",
          "io.weft.agent",
          "io.weft.cluster",
          "io.weft.collective",
          "io.weft.comm",
          "io.weft.gradient",
          "io.weft.tensor",
          "java.lang.foreign",
          "java.nio.charset",
          "java.nio.file",
          "java.time",
          "java.util",
          "java.util.concurrent",
          "java.util.stream");

  @TempDir private Path directory;

  @Test
  void pagesOfExportedPackagesHaveExamplesThatCompile() throws IOException {
    List<String> files = new ArrayList<>();
    for (String module : MODULES) {
      Path sources = ROOT.resolve(module).resolve("src/main/java");
      Matcher exported = EXPORT.matcher(Files.readString(sources.resolve("module-info.java")));
      while (exported.find()) {
        String name = exported.group(1);
        Path page = sources.resolve(name.replace('.', '/')).resolve("package-info.java");
        Matcher example = EXAMPLE.matcher(Files.readString(page));
        assertThat(example.find()).as("%s has an example", name).isTrue();
        files.add(program(name, example.group(1)));
      }
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter said = new StringWriter();
    try (var manager = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of(
              "-proc:none",
              "-d",
              directory.toString(),
              "-cp",
              System.getProperty("java.class.path"));
      boolean compiled =
          compiler
              .getTask(
                  said,
                  manager,
                  null,
                  options,
                  null,
                  manager.getJavaFileObjects(files.toArray(String[]::new)))
              .call();
      assertThat(compiled).as("%s", said).isTrue();
    }
  }

  /// Writes a class with the example, which may use a `Weft` and a tensor.
  private String program(String of, String example) throws IOException {
    String name = "ExampleOf_" + of.replace('.', '_');
    String imports =
        Stream.concat(Stream.of(of), IMPORTS.stream())
            .map(each -> "import " + each + ".*;\n")
            .collect(Collectors.joining());
    String body = example.replaceAll("(?m)^/// ?", "");
    Path file = directory.resolve(name + ".java");
    Files.writeString(
        file,
        imports
            + "class "
            + name
            + " {\n  static Weft weft;\n  static TensorView tensor;\n"
            + "  static void example() throws Exception {\n"
            + body
            + "  }\n}\n");
    return file.toString();
  }
}
