// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import io.weft.launch.perf.process.BenchProgram;
import io.weft.launch.perf.sendrecv.SendRecvRanks;
import java.util.List;

/// gRPC. For `messages`, grpc-java: unary calls between two JVMs over one connection. Its program
/// and gRPC itself are not among what users of Weft get: both are looked for on the class path,
/// where `WEFT_CLASS_PATH` puts them. For `sendrecv`, TensorFlow's own distributed runtime, which
/// is part of TensorFlow's library; it knows TCP only, whatever carries Weft's bytes.
///
/// @param classPath that of this process
record GrpcJava(String classPath) implements MeasuredPeer {

  private static final String PROGRAM = "io.weft.bench.grpc.GrpcMessages";

  @Override
  public String name() {
    return "grpc";
  }

  @Override
  public Contestant prepare(MeasuringPlan plan) {
    if (plan.benchmark() == Benchmark.SENDRECV) {
      SendRecvRanks tasks = WeftPeer.sendRecv(plan);
      return stage -> RankReport.parse(tasks.underGrpc(stage.limit(plan)), plan);
    }
    if (plan.benchmark() != Benchmark.MESSAGES) {
      throw new IllegalArgumentException(
          "peer grpc has no %s; it has: messages, sendrecv".formatted(plan.benchmark().label()));
    }
    if (!plan.transport().equals("tcp")) {
      throw new IllegalArgumentException(
          "peer grpc has no transport '%s'; allowed: tcp".formatted(plan.transport()));
    }
    List<String> command = new BenchProgram(classPath, PROGRAM).command(plan.arguments());
    return MeasuredPeer.program("peer grpc", command, plan);
  }
}
