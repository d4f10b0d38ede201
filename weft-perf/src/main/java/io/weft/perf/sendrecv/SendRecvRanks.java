// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import io.weft.cluster.SecureMode;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.PerfException;
import io.weft.perf.tensorflow.GrpcPorts;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The two processes of one round: a task that measures and a task that owns the variables.
///
/// @param transport Weft's transport
/// @param secure the encryption of Weft's connections
/// @param work `sendrecv WARM_UP_MILLIS BYTES:STEPS:TENSORS...`
/// @param directMemoryBytes limit on one process's memory outside the heap
public record SendRecvRanks(
    String transport, SecureMode secure, List<String> work, long directMemoryBytes) {

  private static final int PROCESSES = 2;

  /// Copies the list.
  public SendRecvRanks {
    work = List.copyOf(work);
  }

  /// Runs one round under Weft. Returns the output of the measuring task. Throws
  /// `PerfException.Failed`.
  public List<String> underWeft(Duration limit) throws InterruptedException {
    return run("weft", List.of(), limit);
  }

  /// Runs one round under TensorFlow's own runtime, which opens two ports on all interfaces during
  /// the round.
  public List<String> underGrpc(Duration limit) throws InterruptedException {
    List<Integer> ports;
    try {
      ports = GrpcPorts.free(PROCESSES);
    } catch (UncheckedIOException e) {
      throw new PerfException.Failed("no ports for TensorFlow: " + e.getMessage(), e);
    }
    return run("grpc", ports, limit);
  }

  private List<String> run(String runtime, List<Integer> ports, Duration limit)
      throws InterruptedException {
    StringBuilder first = new StringBuilder(work.getFirst());
    first.append(':').append(runtime).append(':').append(limit.toSeconds());
    ports.forEach(port -> first.append(':').append(port));
    List<String> arguments = new ArrayList<>(work);
    arguments.set(0, first.toString());
    return new LocalRanks(SendRecvRank.class, PROCESSES, directMemoryBytes)
        .run(transport, secure, arguments, limit);
  }
}
