// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import io.weft.testkit.sim.network.SimLink;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/// A host's link to all others, and the processor time of its bytes and messages, which is spent at
/// both ends.
///
/// @param name name on the command line
/// @param bytesPerSecond payload in each direction
/// @param latency time of the first byte
/// @param perMessage processor time of a message at each end
/// @param nanosPerByte processor time of a byte at each end; 0 if the device moves the bytes
public record PlanLink(
    String name,
    double bytesPerSecond,
    Duration latency,
    Duration perMessage,
    double nanosPerByte) {

  /// The payload of a full TCP segment, 1,448 bytes, divided by its 1,538 bytes on an Ethernet:
  /// headers of 66 bytes, checksum, preamble and gap of 24 bytes.
  private static final double TCP_PAYLOAD = 1448.0 / 1538;

  /// The payload of RDMA over the bytes on the link, with packets of 1,024 bytes and headers of at
  /// most 66 bytes.
  private static final double RDMA_PAYLOAD = 0.94;

  private static final Duration TCP_LATENCY = Duration.ofNanos(25_000);
  private static final Duration RDMA_LATENCY = Duration.ofNanos(2_500);

  /// The processor time of a TCP message: single tensors of 4 KiB follow each other at intervals of
  /// 4 us (docs/benchmarks/2026-11-27-xeon.md), in which a rank sends one message and receives one.
  private static final Duration TCP_MESSAGE = Duration.ofNanos(2_000);

  /// The processor time of a byte in the kernel: one way, 64 MiB take 13.75 ms between two
  /// processors (docs/benchmarks/2026-11-26-epyc.md).
  private static final double TCP_NANOS_PER_BYTE = 0.205;

  /// The processor time of a work request and its completion. No card was measured.
  private static final Duration RDMA_MESSAGE = Duration.ofNanos(300);

  /// The data rate of an InfiniBand link of 40 Gbit/s (QDR), which sends 8 bits as 10.
  private static final double QDR_GBIT = 32;

  private static final List<PlanLink> NAMED =
      List.of(
          tcp("1g", 1),
          tcp("10g", 10),
          tcp("25g", 25),
          tcp("40g", QDR_GBIT),
          rdma("rdma-25g", 25),
          rdma("rdma-40g", QDR_GBIT));

  /// Throws `IllegalArgumentException` if a cost is negative, or the speed is not positive.
  public PlanLink {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(latency, "latency");
    Objects.requireNonNull(perMessage, "perMessage");
    if (!(bytesPerSecond > 0)
        || latency.isNegative()
        || perMessage.isNegative()
        || !(nanosPerByte >= 0)) {
      throw new IllegalArgumentException(
          "link %s: %s bytes/s, latency %s, %s a message, %s ns a byte: the speed must be positive"
                  .formatted(name, bytesPerSecond, latency, perMessage, nanosPerByte)
              + ", and no cost may be negative");
    }
  }

  /// Returns an Ethernet link of this speed, used by TCP through the kernel.
  public static PlanLink tcp(String name, double gbit) {
    return new PlanLink(
        name, gbit * 1e9 / 8 * TCP_PAYLOAD, TCP_LATENCY, TCP_MESSAGE, TCP_NANOS_PER_BYTE);
  }

  /// Returns a link of this speed, used by RDMA, whose device moves the bytes.
  public static PlanLink rdma(String name, double gbit) {
    return new PlanLink(name, gbit * 1e9 / 8 * RDMA_PAYLOAD, RDMA_LATENCY, RDMA_MESSAGE, 0);
  }

  /// Returns the link of this name. Throws `IllegalArgumentException` with the allowed names.
  public static PlanLink named(String name) {
    Objects.requireNonNull(name, "name");
    return NAMED.stream()
        .filter(each -> each.name.equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "--link: unknown link '%s'; allowed: %s"
                        .formatted(
                            name,
                            NAMED.stream().map(PlanLink::name).collect(Collectors.joining(", ")))));
  }

  /// Returns whether the device accesses a peer's memory without the peer's processors.
  boolean isOneSided() {
    return nanosPerByte == 0;
  }

  /// Returns the port of a host that sends and receives at once. One processor serves both
  /// directions, so it may be slower than the link.
  SimLink port() {
    return SimLink.of(latency, Math.min(bytesPerSecond, 1e9 / (2 * nanosPerByte)), perMessage);
  }

  /// Returns a link on which bytes take only the processor time of one end.
  SimLink processor() {
    return SimLink.of(Duration.ZERO, 1e9 / nanosPerByte, perMessage);
  }

  /// Returns this link with twice the speed.
  PlanLink faster() {
    return new PlanLink(name, 2 * bytesPerSecond, latency, perMessage, nanosPerByte);
  }

  /// Returns this link without processor time.
  PlanLink withoutProcessors() {
    return new PlanLink(name, bytesPerSecond, latency, Duration.ZERO, 0);
  }

  /// Returns this link without latency.
  PlanLink withoutLatency() {
    return new PlanLink(name, bytesPerSecond, Duration.ZERO, perMessage, nanosPerByte);
  }
}
