// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.transport.limit.ClampedDuration;

/// The cost of a run.
///
/// @param steps that the run took; with parameter servers, the most steps of a worker
/// @param elapsedSeconds from the first step to the end of the last epoch, tests and checkpoints
///   included; with parameter servers, the steps of the slowest worker
/// @param cpuSeconds of the processors in this time, over all ranks; with parameter servers, over
///   the workers, from the start of their processes
public record TrainingCost(long steps, double elapsedSeconds, double cpuSeconds) {

  /// Returns the processor time of this process since its start, in seconds; 0 if unknown.
  public static double ownCpuSeconds() {
    return ProcessHandle.current()
        .info()
        .totalCpuDuration()
        .map(duration -> ClampedDuration.nanos(duration) / 1e9)
        .orElse(0.0);
  }
}
