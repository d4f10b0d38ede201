// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.network;

import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// What a way between two places costs. A message of b bytes keeps its sender's port and, later,
/// its receiver's port busy for `perMessage + b / bytesPerSecond`; its first byte needs `latency`
/// and up to `jitter` more. Ports serve one message at a time, in order: so contention is real.
///
/// @param latency of the first byte
/// @param bytesPerSecond of a port
/// @param perMessage what a message costs a port whatever its length
/// @param jitter most that a message may be later, drawn evenly; order on a connection stays
public record SimLink(
    Duration latency, double bytesPerSecond, Duration perMessage, Duration jitter) {

  /// A network of 10 Gbit/s through the kernel: 20 us, 1 us a message.
  public static final SimLink ETHERNET =
      of(Duration.ofNanos(20_000), 1.25e9, Duration.ofNanos(1000));

  /// Two processes of one host: 2 us, 8 GB/s, 0.2 us a message.
  public static final SimLink MEMORY = of(Duration.ofNanos(2_000), 8e9, Duration.ofNanos(200));

  /// Throws `IllegalArgumentException` where something is negative, or no byte ever leaves.
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
              + ": nothing of it may be negative, and the speed must be positive");
    }
  }

  /// Without jitter.
  public static SimLink of(Duration latency, double bytesPerSecond, Duration perMessage) {
    return new SimLink(latency, bytesPerSecond, perMessage, Duration.ZERO);
  }

  /// The same with this jitter.
  public SimLink jittered(Duration most) {
    return new SimLink(latency, bytesPerSecond, perMessage, most);
  }

  /// How long a message keeps a port busy.
  long occupancyNanos(long bytes) {
    return Span.nanos(perMessage) + Math.round(bytes * 1e9 / bytesPerSecond);
  }

  /// Bytes that pass a port in this time, after the message's own cost.
  long bytesWithin(long nanos) {
    return (long) (Math.max(0, nanos - Span.nanos(perMessage)) * bytesPerSecond / 1e9);
  }

  /// How long a first byte is on its way this time.
  long delayNanos(RandomGenerator random) {
    long most = Span.nanos(jitter);
    return Span.nanos(latency) + (most == 0 ? 0 : random.nextLong(most + 1));
  }
}
