// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.weft.TransferCounts;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;

/// The bytes that a training has moved between ranks.
///
/// @param bytesSent by all ranks
/// @param bytesPerStep sent by all ranks in a step; empty if unknown
/// @param transfers the transfers of longer payloads over RDMA, of all ranks: how many bytes a
///   device moved directly, and the copies and registrations that they cost; empty for other
///   transports
public record Traffic(
    long bytesSent,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble bytesPerStep,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<TransferCounts> transfers) {

  /// Throws `NullPointerException` if a component is null.
  public Traffic {
    Objects.requireNonNull(bytesPerStep, "bytesPerStep");
    Objects.requireNonNull(transfers, "transfers");
  }

  /// Returns the traffic of ranks with these sums.
  public static Traffic of(long bytesSent, OptionalDouble bytesPerStep, TransferCounts transfers) {
    return new Traffic(
        bytesSent,
        bytesPerStep,
        Optional.of(transfers).filter(counts -> !counts.equals(TransferCounts.NONE)));
  }
}
