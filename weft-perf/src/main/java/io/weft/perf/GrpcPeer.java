// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.grpc.GrpcMessages;
import io.weft.perf.process.JavaProgram;
import io.weft.perf.sendrecv.SendRecvRanks;
import java.util.List;

/// The peer gRPC. For `messages` it is grpc-java with unary calls between two JVMs over one
/// connection. For `sendrecv` it is TensorFlow's own distributed runtime, which is part of
/// TensorFlow's library. Both support only TCP. `sendrecv` runs over TCP regardless of Weft's
/// transport.
record GrpcPeer() implements MeasuredPeer {

  @Override
  public String name() {
    return "grpc";
  }

  @Override
  public Prepared prepare(MeasuringPlan plan) {
    if (plan.benchmark() == Benchmark.SENDRECV) {
      SendRecvRanks tasks = WeftPeer.sendRecv(plan);
      return stage -> plan.report(tasks.underGrpc(stage.limit(plan)));
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
