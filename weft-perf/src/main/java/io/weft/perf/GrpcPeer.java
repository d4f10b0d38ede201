// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.grpc.GrpcMessages;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.sendrecv.SendRecvRanks;
import java.util.List;

/// gRPC. For `messages`, grpc-java: unary calls between two JVMs over one connection. For
/// `sendrecv`, TensorFlow's own distributed runtime, which is part of TensorFlow's library. Both
/// know TCP only; of `sendrecv` it runs whatever carries Weft's bytes.
record GrpcPeer() implements MeasuredPeer {

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
    List<String> command = new JavaProgram(GrpcMessages.class).command(plan.arguments());
    return MeasuredPeer.program("peer grpc", command, plan);
  }
}
