// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks `tools/Expand.java`, which writes the kernels' sources.
class ExpandTest {

  private static final String TEMPLATE =
      """
      #default sum=a + b
      #default loops=name=sum; is=${sum}
      #default loops=${loops} | name=least; is=min(a, b)
      #class Ints; type=int
      #with whole
      #class Reals; type=double
      package a.b;
      #if whole
      // whole
      #else
      // not whole, named ${class}
      #end
      #each ${loops}
      ${type} ${name}(${type} a, ${type} b) {
      #if whole
        // ${name}
      #end
        return ${is};
      }
      #end
      """;

  @TempDir Path directory;

  @Test
  void eachClassIsWrittenWithItsValues() throws Exception {
    assertThat(expand(TEMPLATE)).isEmpty();
    assertThat(source("Ints.java"))
        .hasContent(
            """
            package a.b;
            // whole
            int sum(int a, int b) {
              // sum
              return a + b;
            }
            int least(int a, int b) {
              // least
              return min(a, b);
            }
            """);
    assertThat(source("Reals.java"))
        .hasContent(
            """
            package a.b;
            // not whole, named Reals
            double sum(double a, double b) {
              return a + b;
            }
            double least(double a, double b) {
              return min(a, b);
            }
            """);
  }

  @Test
  void aSecondRunWritesOnlyWhatHasChanged() throws Exception {
    assertThat(expand(TEMPLATE)).isEmpty();
    FileTime longAgo = FileTime.fromMillis(0);
    Files.setLastModifiedTime(source("Ints.java"), longAgo);
    assertThat(expand(TEMPLATE.replace("double", "float").replace("Reals", "Floats"))).isEmpty();
    assertThat(Files.getLastModifiedTime(source("Ints.java"))).isEqualTo(longAgo);
    assertThat(source("Floats.java")).content().contains("float least(float a, float b)");
    assertThat(source("Reals.java")).doesNotExist();
  }

  /// In the templates, `/` begins a new line.
  @ParameterizedTest
  @CsvSource({
    "'package a;', 'line 1: no #class above it: package a;'",
    "'#class A/package a;/${b}', 'line 3: A has no value of ${b}: ${b}'",
    "'#class A/#with b c=1/package a;', 'line 2: not a key: ''b c'''",
    "'#class A/package a;/#end', 'line 3: no #if or #each is open: #end'",
    "'#class A/package a;/#if b/c', 'line 3: no #end for it: #if b'",
    "'#class A/package a;/#iff b', 'line 3: unknown directive: #iff b'",
    "'#class A/class A {}', 'line 2: the text has no line ''package …;'''",
  })
  void aMistakeIsNamedWithItsLine(String template, String message) throws Exception {
    assertThat(expand(template.replace('/', '\n'))).contains("X.java.template, " + message);
    assertThat(directory.resolve("output")).doesNotExist();
  }

  private Path source(String name) {
    return directory.resolve("output/a/b").resolve(name);
  }

  /// Expands one template in a separate JVM and returns what that prints.
  private String expand(String template) throws IOException, InterruptedException {
    Path templates = Files.createDirectories(directory.resolve("templates"));
    Files.writeString(templates.resolve("X.java.template"), template);
    Path printed = directory.resolve("printed");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "../tools/Expand.java",
                templates.toString(),
                directory.resolve("output").toString())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("ended within 30 s").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return Files.readString(printed);
  }
}
