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

/// Open MPI, measured by a small C program of this project over its collectives and messages.
/// `mpirun` starts the program with its defaults: binding (each of two ranks has a core),
/// algorithms, and spinning waits.
final class OpenMpi implements MeasuredPeer {

  private static final String REMEDY =
      "; install it: apt-get install openmpi-bin libopenmpi-dev gcc";

  /// The benchmarks that the program lacks. It has messages and collectives.
  private static final Set<Benchmark> ABSENT =
      EnumSet.of(Benchmark.WRITES, Benchmark.READS, Benchmark.REGISTRATION, Benchmark.SENDRECV);

  private final SearchPath path;
  private final Path cache;

  /// Finds programs on `path` and keeps the compiled program under `cache`.
  OpenMpi(SearchPath path, Path cache) {
    this.path = path;
    this.cache = cache;
  }

  @Override
  public String name() {
    return "openmpi";
  }

  @Override
  public Prepared prepare(MeasuringPlan plan) throws InterruptedException {
    if (ABSENT.contains(plan.benchmark())) {
      throw new IllegalArgumentException(
          "peer openmpi has no %s; it has all but: %s"
              .formatted(
                  plan.benchmark().label(),
                  ABSENT.stream().map(Benchmark::label).collect(Collectors.joining(", "))));
    }
    return MeasuredPeer.program(
        "Open MPI", command(plan.transport(), plan.ranks(), plan.arguments()), plan);
  }

  /// Returns the command that runs the program with `arguments`. Throws `PerfException.Missing`.
  List<String> command(String transport, int ranks, List<String> arguments)
      throws InterruptedException {
    List<String> fabric = fabric(transport);
    Path mpirun = find("mpirun");
    Path program =
        new CProgram(OpenMpi.class, "openmpi.c", List.of(HEADER), List.of("-std=gnu11"), cache)
            .compiledBy("peer openmpi", find("mpicc"), REMEDY);
    boolean root = "root".equals(System.getProperty("user.name"));
    int cores = Runtime.getRuntime().availableProcessors();
    List<String> command = new ArrayList<>(launch(mpirun, fabric, ranks, root, cores));
    command.add(program.toString());
    command.addAll(arguments);
    return command;
  }

  private Path find(String program) {
    return path.find(program + ".openmpi", program)
        .orElseThrow(
            () ->
                new PerfException.Missing(
                    "peer openmpi: there is no " + program + " on PATH" + REMEDY));
  }

  /// Returns options for the point-to-point layer `ob1` with only one byte transport: loopback TCP
  /// or shared memory.
  static List<String> fabric(String transport) {
    return switch (transport) {
      case "tcp" ->
          List.of(
              "--mca",
              "pml",
              "ob1",
              "--mca",
              "btl",
              "tcp,self",
              "--mca",
              "btl_tcp_if_include",
              "lo");
      case "shm" -> List.of("--mca", "pml", "ob1", "--mca", "btl", "vader,self");
      default ->
          throw new IllegalArgumentException(
              "peer openmpi has no transport '%s'; allowed: tcp, shm".formatted(transport));
    };
  }

  /// Returns the command that starts `ranks` ranks of the appended program.
  static List<String> launch(Path mpirun, List<String> fabric, int ranks, boolean root, int cores) {
    List<String> command = new ArrayList<>(List.of(mpirun.toString()));
    if (root) {
      command.add("--allow-run-as-root");
    }
    if (ranks > cores) {
      command.add("--oversubscribe");
    }
    command.addAll(fabric);
    command.addAll(List.of("-np", Integer.toString(ranks)));
    return command;
  }
}
