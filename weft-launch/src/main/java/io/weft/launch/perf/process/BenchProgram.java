// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.process;

import io.weft.launch.process.Collector;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// A program of `weft-bench` that needs grpc-java. Neither is among what users of Weft get: both
/// are looked for on the class path, where `WEFT_CLASS_PATH` puts them.
///
/// @param classPath that of this process
/// @param program its main class
public record BenchProgram(String classPath, String program) {

  private static final String GRPC = "io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder";

  private static final String REMEDY =
      """
      build it and add it, in the root of Weft's sources:
        mvn -q -pl weft-bench -am package -DskipTests
        export WEFT_CLASS_PATH=$PWD/weft-bench/target/classes:$(cat weft-bench/target/grpc.classpath)\
      """;

  /// The command line that runs it, with the flags of Weft's ranks, as far as they concern gRPC.
  /// Throws `PerfException.Missing` if it is not there.
  public List<String> command(List<String> arguments) {
    for (String type : List.of(program, GRPC)) {
      if (!isThere(type)) {
        throw new PerfException.Missing(
            "peer grpc: %s is not on the class path; %s".formatted(type, REMEDY));
      }
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Collector.flags());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:-UsePerfData",
            "-Xmx1g",
            "-cp",
            classPath,
            program));
    command.addAll(arguments);
    return command;
  }

  private boolean isThere(String type) {
    try (URLClassLoader loader =
        new URLClassLoader(
            Stream.of(classPath.split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(BenchProgram::url)
                .toArray(URL[]::new),
            null)) {
      return loader.findResource(type.replace('.', '/') + ".class") != null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException("every file has an address: " + entry, e);
    }
  }
}
