// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.CProgram;
import io.weft.perf.process.PerfException;
import io.weft.perf.process.SearchPath;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// A peer that is one program of this project's own: it starts its ranks itself.
///
/// @param name on the command line
/// @param source its file, and how it is built
/// @param compilers names of programs that can build it, the first that is there is taken
/// @param packages what `apt-get install` needs for it
/// @param benchmarks that it knows
/// @param scope what it can run on, and how its ranks are told
/// @param path where compilers are looked for
record CompiledPeer(
    String name,
    CProgram source,
    List<String> compilers,
    String packages,
    Set<Benchmark> benchmarks,
    Scope scope,
    SearchPath path)
    implements MeasuredPeer {

  CompiledPeer {
    compilers = List.copyOf(compilers);
    benchmarks = Set.copyOf(benchmarks);
  }

  /// What a program's processes are.
  enum Scope {
    /// One process on one core, which no transport concerns.
    ONE_CORE,
    /// Two processes over TCP.
    TCP_PAIR,
    /// As many processes as its first argument says, over TCP.
    TCP_RANKS,
    /// As many processes as its first argument says, over shared memory; two of them where their
    /// tensors are private.
    SHARED_RANKS;

    private String transport() {
      return this == SHARED_RANKS ? "shm" : "tcp";
    }

    private boolean areTwo(TensorMemory memory) {
      return this == TCP_PAIR || (this == SHARED_RANKS && memory == TensorMemory.PRIVATE);
    }

    private boolean isToldHowMany() {
      return this == TCP_RANKS || this == SHARED_RANKS;
    }
  }

  /// The limit: copies as many bytes on one core.
  static MeasuredPeer memcpy(SearchPath path, Path cache) {
    return new CompiledPeer(
        "memcpy",
        c("memcpy.c", cache),
        List.of("gcc", "cc"),
        "gcc libc6-dev",
        EnumSet.complementOf(
            EnumSet.of(
                Benchmark.BARRIER,
                Benchmark.PINGPONG,
                Benchmark.MESSAGES,
                Benchmark.WRITES,
                Benchmark.READS,
                Benchmark.REGISTRATION)),
        Scope.ONE_CORE,
        path);
  }

  /// Plain C on what the plan's transport is made of: what careful programs reach without a
  /// library.
  static MeasuredPeer plainC(SearchPath path, Path cache) {
    return new ByTransport(sockets(path, cache), sharedMemory(path, cache));
  }

  private static MeasuredPeer sockets(SearchPath path, Path cache) {
    return new CompiledPeer(
        "c",
        c("sockets.c", cache),
        List.of("gcc", "cc"),
        "gcc libc6-dev",
        EnumSet.of(
            Benchmark.ALLREDUCE, Benchmark.PINGPONG, Benchmark.BANDWIDTH, Benchmark.MESSAGES),
        Scope.TCP_PAIR,
        path);
  }

  private static MeasuredPeer sharedMemory(SearchPath path, Path cache) {
    return new CompiledPeer(
        "c",
        c("memory.c", cache),
        List.of("gcc"),
        "gcc libc6-dev",
        EnumSet.of(Benchmark.ALLREDUCE),
        Scope.SHARED_RANKS,
        path);
  }

  /// Gloo, the library under PyTorch's collectives on processors, with its own defaults.
  static MeasuredPeer gloo(SearchPath path, Path cache) {
    return new CompiledPeer(
        "gloo",
        new CProgram(
            CompiledPeer.class,
            "gloo.cc",
            List.of(HEADER),
            List.of("-std=gnu++17", "-lgloo", "-pthread"),
            cache),
        List.of("g++", "c++"),
        "libgloo-dev g++",
        EnumSet.of(
            Benchmark.ALLREDUCE,
            Benchmark.BROADCAST,
            Benchmark.ALLGATHER,
            Benchmark.ALLTOALL,
            Benchmark.BARRIER),
        Scope.TCP_RANKS,
        path);
  }

  private static CProgram c(String file, Path cache) {
    return new CProgram(CompiledPeer.class, file, List.of(HEADER), List.of("-std=gnu11"), cache);
  }

  @Override
  public Contestant prepare(MeasuringPlan plan) throws InterruptedException {
    if (!benchmarks.contains(plan.benchmark())) {
      throw new IllegalArgumentException(
          "peer %s has no %s; it has: %s"
              .formatted(
                  name,
                  plan.benchmark().label(),
                  benchmarks.stream()
                      .sorted()
                      .map(Benchmark::label)
                      .collect(Collectors.joining(", "))));
    }
    if (scope != Scope.ONE_CORE && !plan.transport().equals(scope.transport())) {
      throw new IllegalArgumentException(
          "peer %s has no transport '%s'; allowed: %s"
              .formatted(name, plan.transport(), scope.transport()));
    }
    if (scope.areTwo(plan.memory()) && plan.ranks() != 2) {
      throw new IllegalArgumentException(
          "peer %s has 2 ranks, not %d".formatted(name, plan.ranks()));
    }
    String remedy = "; install it: apt-get install " + packages;
    Path compiler =
        path.find(compilers.toArray(String[]::new))
            .orElseThrow(
                () ->
                    new PerfException.Missing(
                        "peer %s: there is no %s on PATH%s"
                            .formatted(name, compilers.getFirst(), remedy)));
    List<String> command = new ArrayList<>();
    command.add(source.compiledBy("peer " + name, compiler, remedy).toString());
    if (scope.isToldHowMany()) {
      command.add(Integer.toString(plan.ranks()));
    }
    command.addAll(plan.arguments());
    return MeasuredPeer.program("peer " + name, command, plan);
  }

  /// Two programs of one name.
  private record ByTransport(MeasuredPeer tcp, MeasuredPeer shm) implements MeasuredPeer {

    @Override
    public String name() {
      return tcp.name();
    }

    @Override
    public Contestant prepare(MeasuringPlan plan) throws InterruptedException {
      return switch (plan.transport()) {
        case "tcp" -> tcp.prepare(plan);
        case "shm" -> shm.prepare(plan);
        default ->
            throw new IllegalArgumentException(
                "peer %s has no transport '%s'; allowed: tcp, shm"
                    .formatted(name(), plan.transport()));
      };
    }
  }
}
