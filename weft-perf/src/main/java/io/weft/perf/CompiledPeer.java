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

/// A peer that is one program of this project, which starts its own ranks.
///
/// @param name name on the command line
/// @param source source file and its build
/// @param compilers names of programs that can build it, in order of preference
/// @param packages packages that it needs from `apt-get install`
/// @param benchmarks its benchmarks
/// @param scope its processes and their transport
/// @param path directories in which compilers are searched
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

  /// The processes of a program and their transport.
  enum Scope {
    /// One process on one core, which uses no transport.
    ONE_CORE,
    /// Two processes over TCP.
    TCP_PAIR,
    /// A number of processes over TCP. The first argument is the number.
    TCP_RANKS,
    /// A number of processes over shared memory. The first argument is the number, which must be
    /// two for private tensors.
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

  /// Returns the lower bound: a copy of the same bytes on one core.
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

  /// Returns plain C programs on the plan's transport, which show the speed of careful programs
  /// without a library.
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

  /// Returns Gloo, the library of PyTorch's collectives on processors, with its defaults.
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
  public Prepared prepare(MeasuringPlan plan) throws InterruptedException {
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

  /// Two programs of one name, one per transport.
  private record ByTransport(MeasuredPeer tcp, MeasuredPeer shm) implements MeasuredPeer {

    @Override
    public String name() {
      return tcp.name();
    }

    @Override
    public Prepared prepare(MeasuringPlan plan) throws InterruptedException {
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
