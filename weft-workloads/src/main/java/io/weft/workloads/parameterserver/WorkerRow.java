// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.TransferCounts;
import io.weft.kv.spec.TableCounts;
import java.util.Arrays;

/// The result of one worker, which travels as a row of numbers.
///
/// @param done true if the worker has completed its steps
/// @param effort of its steps
/// @param requests in which it requested tensors; negative if unknown
/// @param bytesSent by the worker
/// @param transfers of the worker
/// @param tables the counts of requests to tables
/// @param exposure to communication
/// @param losses of its steps, each summed over its share of the batch; NaN for a step that it did
///   not take
public record WorkerRow(
    boolean done,
    Effort effort,
    long requests,
    long bytesSent,
    TransferCounts transfers,
    TableCounts tables,
    Exposure exposure,
    double[] losses) {

  /// The effort of a worker.
  ///
  /// @param examples that the worker trained on
  /// @param seconds that its steps took
  /// @param cpuSeconds of the processors since the start of its process
  public record Effort(long examples, double seconds, double cpuSeconds) {}

  /// The communication that no computation hid.
  ///
  /// @param waited seconds of waiting, with the wait for slower workers
  /// @param seconds of the same steps; 0 if unknown
  public record Exposure(double waited, double seconds) {}

  private static final int FACTS = 15;

  /// Returns the number of steps that the worker took.
  long steps() {
    return Arrays.stream(losses).filter(Double::isFinite).count();
  }

  /// Returns the length of a row with this number of losses.
  static int width(int losses) {
    return FACTS + losses;
  }

  /// Returns the row of these numbers.
  public static WorkerRow of(double[] numbers) {
    return new WorkerRow(
        numbers[0] != 0,
        new Effort((long) numbers[1], numbers[2], numbers[12]),
        (long) numbers[3],
        (long) numbers[4],
        new TransferCounts(
            (long) numbers[5], (long) numbers[6], (long) numbers[7], (long) numbers[8]),
        new TableCounts((long) numbers[9], (long) numbers[10], (long) numbers[11]),
        new Exposure(numbers[13], numbers[14]),
        Arrays.copyOfRange(numbers, FACTS, numbers.length));
  }

  /// Returns the row as numbers.
  public double[] numbers() {
    double[] numbers = new double[width(losses.length)];
    numbers[0] = done ? 1 : 0;
    numbers[1] = effort.examples;
    numbers[2] = effort.seconds;
    numbers[3] = requests;
    numbers[4] = bytesSent;
    numbers[5] = transfers.registrations();
    numbers[6] = transfers.oneSidedBytes();
    numbers[7] = transfers.ringBytes();
    numbers[8] = transfers.copiedBytes();
    numbers[9] = tables.pushes();
    numbers[10] = tables.pulls();
    numbers[11] = tables.staleness();
    numbers[12] = effort.cpuSeconds;
    numbers[13] = exposure.waited;
    numbers[14] = exposure.seconds;
    System.arraycopy(losses, 0, numbers, FACTS, losses.length);
    return numbers;
  }
}
