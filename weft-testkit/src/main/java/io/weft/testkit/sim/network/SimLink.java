// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// The cost of a path between two places. A message of b bytes occupies its sender's port and,
/// later, its receiver's port for `perMessage + b / bytesPerSecond`. Its first byte takes `latency`
/// and up to `jitter` more. Ports serve one message at a time, in order, which causes contention.
///
/// @param latency of the first byte
/// @param bytesPerSecond of a port
/// @param perMessage the cost of a message at a port, independent of its length
/// @param jitter the maximum extra latency, drawn uniformly; a connection keeps its order
public record SimLink(
    Duration latency, double bytesPerSecond, Duration perMessage, Duration jitter) {

  /// A network of 10 Gbit/s through the kernel: 20 us, 1 us a message.
  public static final SimLink ETHERNET =
      of(Duration.ofNanos(20_000), 1.25e9, Duration.ofNanos(1000));

  /// Two processes of one host: 2 us, 8 GB/s, 0.2 us a message.
  public static final SimLink MEMORY = of(Duration.ofNanos(2_000), 8e9, Duration.ofNanos(200));

  /// Throws `IllegalArgumentException` if a value is negative, or the speed is not positive.
  public SimLink {
    if (latency.isNegative()
        || perMessage.isNegative()
        || jitter.isNegative()
        || !(bytesPerSecond > 0)) {
      throw new IllegalArgumentException(
          "a link with latency "
              + latency
              + ", "
              + bytesPerSecond
              + " bytes/s, "
              + perMessage
              + " per message and jitter "
              + jitter
              + ": no value may be negative, and the speed must be positive");
    }
  }

  /// Returns a link without jitter.
  public static SimLink of(Duration latency, double bytesPerSecond, Duration perMessage) {
    return new SimLink(latency, bytesPerSecond, perMessage, Duration.ZERO);
  }

  /// Returns this link with this jitter.
  public SimLink jittered(Duration most) {
    return new SimLink(latency, bytesPerSecond, perMessage, most);
  }

  /// Returns the time for which a message occupies a port.
  long occupancyNanos(long bytes) {
    return ClampedDuration.nanos(perMessage) + Math.round(bytes * 1e9 / bytesPerSecond);
  }

  /// Returns the bytes that pass a port in this time, after the cost of the message.
  long bytesWithin(long nanos) {
    return (long) (Math.max(0, nanos - ClampedDuration.nanos(perMessage)) * bytesPerSecond / 1e9);
  }

  /// Returns the latency of one message, with random jitter.
  long delayNanos(RandomGenerator random) {
    long most = ClampedDuration.nanos(jitter);
    return ClampedDuration.nanos(latency) + (most == 0 ? 0 : random.nextLong(most + 1));
  }
}
