// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.Child;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.process.PeerModule;
import io.weft.perf.process.PerfException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// An allreduce of another library for Java over TCP. Its program starts its own ranks, in separate
/// JVMs, because some of these libraries crash a process.
///
/// @param name name on the command line
/// @param program the program, whose first argument is the number of ranks
/// @param flags additional flags of the JVM
record JavaPeer(String name, PeerModule program, List<String> flags) implements MeasuredPeer {

  /// The argument with which a program only loads its libraries.
  private static final String LOAD = "load";

  private static final Duration LOADING = Duration.ofMinutes(2);
  private static final String COLLECTIVES = "io.weft.perf.peer.collective.";

  JavaPeer {
    flags = List.copyOf(flags);
  }

  /// Returns PyTorch's process group over Gloo, through JavaCPP.
  static JavaPeer javacppGloo() {
    return of("javacpp-gloo", "weft-peers", COLLECTIVES + "GlooRank");
  }

  /// Returns the collective of XGBoost4J.
  static JavaPeer xgboost() {
    return of("xgboost", "weft-peers", COLLECTIVES + "XgboostRank");
  }

  /// Returns Spark's `treeAggregate` over executors of one application.
  static JavaPeer spark() {
    return of("spark", "weft-peers-spark", "io.weft.perf.peer.spark.SparkPeer");
  }

  private static JavaPeer of(String name, String module, String program) {
    return new JavaPeer(name, new PeerModule(module, program), List.of("-Xmx3g"));
  }

  @Override
  public Prepared prepare(MeasuringPlan plan) throws InterruptedException {
    if (plan.benchmark() != Benchmark.ALLREDUCE) {
      throw new IllegalArgumentException(
          "peer %s has no %s; it has: allreduce".formatted(name, plan.benchmark().label()));
    }
    if (!plan.transport().equals("tcp")) {
      throw new IllegalArgumentException(
          "peer %s has no transport '%s'; allowed: tcp".formatted(name, plan.transport()));
    }
    JavaProgram java = new JavaProgram(program.program(), program.classpath(name), flags);
    Child.ChildOutput loaded = Child.run(java.command(List.of(LOAD)), LOADING);
    if (loaded.exit() != 0) {
      throw new PerfException.Missing(
          "peer %s: its library does not load here; it needs Linux on x86-64; omit the peer%n%s"
              .formatted(name, loaded.lastWords()));
    }
    List<String> arguments = new ArrayList<>(List.of(Integer.toString(plan.ranks())));
    arguments.addAll(plan.arguments());
    return MeasuredPeer.program("peer " + name, java.command(arguments), plan);
  }
}
