// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import io.weft.launch.perf.process.PerfException;
import io.weft.launch.perf.sendrecv.SendRecvRanks;
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

/// gRPC. For `messages`, grpc-java: unary calls between two JVMs over one connection. Its program
/// and gRPC itself are not among what users of Weft get: both are looked for on the class path,
/// where `WEFT_CLASS_PATH` puts them. For `sendrecv`, TensorFlow's own distributed runtime, which
/// is part of TensorFlow's library; it knows TCP only, whatever carries Weft's bytes.
///
/// @param classPath that of this process
record GrpcJava(String classPath) implements Peer {

  private static final String PROGRAM = "io.weft.bench.grpc.GrpcMessages";
  private static final List<String> CLASSES =
      List.of(PROGRAM, "io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder");

  private static final String REMEDY =
      """
      build it and add it, in the root of Weft's sources:
        mvn -q -pl weft-bench -am package -DskipTests
        export WEFT_CLASS_PATH=$PWD/weft-bench/target/classes:$(cat weft-bench/target/grpc.classpath)\
      """;

  @Override
  public String name() {
    return "grpc";
  }

  @Override
  public Contestant prepare(Plan plan) {
    if (plan.benchmark() == Benchmark.SENDRECV) {
      SendRecvRanks tasks = WeftPeer.sendRecv(plan);
      return () -> RankReport.parse(tasks.underGrpc(plan.limit()), plan);
    }
    if (plan.benchmark() != Benchmark.MESSAGES) {
      throw new IllegalArgumentException(
          "peer grpc has no %s; it has: messages, sendrecv".formatted(plan.benchmark().label()));
    }
    if (!plan.transport().equals("tcp")) {
      throw new IllegalArgumentException(
          "peer grpc has no transport '%s'; allowed: tcp".formatted(plan.transport()));
    }
    for (String type : CLASSES) {
      if (!isThere(type)) {
        throw new PerfException.Missing(
            "peer grpc: %s is not on the class path; %s".formatted(type, REMEDY));
      }
    }
    return Peer.program("peer grpc", command(plan), plan);
  }

  private boolean isThere(String type) {
    try (URLClassLoader loader =
        new URLClassLoader(
            Stream.of(classPath.split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .map(GrpcJava::url)
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

  /// The flags of Weft's ranks, as far as they concern gRPC.
  private List<String> command(Plan plan) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-Xmx1g",
            "-cp",
            classPath,
            PROGRAM));
    command.addAll(plan.arguments());
    return command;
  }
}
