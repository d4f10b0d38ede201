// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the script `weft` in a built tree that has this test's class path.
@Timeout(300)
class BuiltScriptTest {

  private static final String PROGRAM =
      """
      package an.application.whose.main.class_.has.a.name.that.is.longer.than.one.line;
      public class Program {
        public static void main(String[] arguments) {
          System.out.println("java " + Runtime.version().feature());
          System.out.println("weft " + io.weft.tensor.DType.FLOAT32);
          System.out.println("vector "
              + ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent());
          System.out.println("arguments " + String.join(",", arguments));
          System.err.println("an error");
          System.err.print("WARNING: the program's");
        }
      }
      """;

  private static final String NAME =
      "an.application.whose.main.class_.has.a.name.that.is.longer.than.one.line.Program";

  @TempDir private Path directory;

  private record Ended(int code, String out, String err) {}

  @BeforeEach
  void build() throws Exception {
    Path work = Files.createDirectories(directory.resolve("root/target/weft"));
    Files.copy(Path.of("..", "weft"), directory.resolve("root/weft"));
    Path tools = Files.createDirectories(directory.resolve("root/tools"));
    Files.copy(Path.of("..", "tools", "build-lock"), tools.resolve("build-lock"));
    Files.writeString(
        work.resolve("classpath"), ManagementFactory.getRuntimeMXBean().getClassPath() + "\n");
    Files.createFile(work.resolve("stamp"));
    Path source = directory.resolve("Program.java");
    Files.writeString(source, PROGRAM);
    Path classes = Files.createDirectories(directory.resolve("classes"));
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-cp",
                ManagementFactory.getRuntimeMXBean().getClassPath(),
                "-d",
                classes.toString(),
                source.toString());
    assertThat(failed).isZero();
  }

  /// Runs these shell lines, in which `$W` is the command.
  private Ended shell(Map<String, String> variables, String lines) throws Exception {
    Path script = directory.resolve("call");
    Files.writeString(script, "set -f\nW=\"sh " + directory.resolve("root/weft") + "\"\n" + lines);
    var builder =
        new ProcessBuilder("sh", script.toString())
            .directory(directory.toFile())
            .redirectOutput(directory.resolve("out").toFile())
            .redirectError(directory.resolve("err").toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("WEFT_"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(variables);
    Process process = builder.start();
    assertThat(process.waitFor(200, TimeUnit.SECONDS)).isTrue();
    return new Ended(
        process.exitValue(),
        Files.readString(directory.resolve("out")),
        Files.readString(directory.resolve("err")));
  }

  private static void assertRan(Ended ended, String arguments) {
    assertThat(ended.out())
        .as(ended.err())
        .contains("java " + Runtime.version().feature())
        .contains("weft FLOAT32")
        .contains("vector true")
        .contains("arguments " + arguments + "\n");
    assertThat(ended.code()).isZero();
    assertThat(ended.err())
        .contains("an error\n")
        .endsWith("WARNING: the program's")
        .doesNotContain("incubator")
        .doesNotContain("Picked up");
  }

  @Test
  void javaAddsWeftToTheUsersClassPath() throws Exception {
    assertRan(shell(Map.of(), "$W java -cp classes " + NAME + " -jar 'a b'"), "-jar,a b");
    assertRan(shell(Map.of("CLASSPATH", "classes"), "$W java " + NAME), "");
    assertRan(
        shell(Map.of(), "$W java -XX:+UseParallelGC --class-path=classes " + NAME + " 1"), "1");
  }

  @Test
  void javaAddsWeftToTheUsersJar() throws Exception {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, NAME);
    String entry = NAME.replace('.', '/') + ".class";
    try (OutputStream file = Files.newOutputStream(directory.resolve("an app.jar"));
        JarOutputStream jar = new JarOutputStream(file, manifest)) {
      jar.putNextEntry(new ZipEntry(entry));
      jar.write(Files.readAllBytes(directory.resolve("classes").resolve(entry)));
    }
    assertRan(shell(Map.of(), "$W java -Dx=1 -jar 'an app.jar' -cp x"), "-cp,x");
    Ended missing = shell(Map.of(), "$W java -jar nowhere.jar");
    assertThat(missing.code()).isEqualTo(2);
    assertThat(missing.err()).isEqualTo("weft: cannot read the jar nowhere.jar\n");
  }

  @Test
  void ranksOfAnyProgramUseThisJavaAndItsFlags() throws Exception {
    String line =
        "PATH=/usr/bin:/bin $W run -np 1 --output-dir o -- java -cp classes:$(cat"
            + " root/target/weft/classpath) ";
    Ended ended = shell(Map.of(), line + NAME + " x\ncat o/rank.0/stdout; cat o/rank.0/stderr >&2");
    assertThat(ended.out())
        .as(ended.err())
        .contains("[0] java " + Runtime.version().feature())
        .contains("[0] vector true");
    assertThat(ended.err()).doesNotContain("incubator").contains("[0] an error");
    Ended own =
        shell(Map.of("JDK_JAVA_OPTIONS", "-Dmine=1"), "$W run -- sh -c 'echo $JDK_JAVA_OPTIONS'");
    assertThat(own.out()).isEqualTo("[0] -Dmine=1\n");
  }

  @Test
  void collectorThatTheUserChoosesIsTheOnlyOne() throws Exception {
    for (String collector : new String[] {"-XX:+UseG1GC", "-XX:+UseZGC -Xmx64m"}) {
      Ended ended = shell(Map.of("JAVA_TOOL_OPTIONS", collector), "$W run -np 1 -- echo done");
      assertThat(ended.out()).as(ended.err()).isEqualTo("[0] done\n");
      assertThat(ended.code()).isZero();
    }
  }

  @Test
  void nonAsciiArgumentsAndVariablesPassInAnAsciiLocale() throws Exception {
    String line =
        """
        export LC_ALL=C
        $W run -np 1 -x V=ü -- sh -c 'echo "$0 $V $LC_ALL $WEFT_LC_ALL"' 'ä€'
        unset LC_ALL LANG LC_CTYPE
        $W run -np 1 -- sh -c 'echo "$0 ${LC_ALL-unset}"' 'ö'
        """;
    Ended ended = shell(Map.of(), line);
    assertThat(ended.out()).as(ended.err()).isEqualTo("[0] ä€ ü C \n[0] ö unset\n");
  }

  @Test
  void doctorPrintsNoIncubatorWarning() throws Exception {
    Ended ended = shell(Map.of(), "$W doctor");
    assertThat(ended.code()).isZero();
    assertThat(ended.out()).contains("java");
    assertThat(ended.err()).isEmpty();
  }
}
