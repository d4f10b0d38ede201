// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.util.List;

/// The settings of the rendezvous. Stateless; any thread.
public final class RendezvousConfig implements OptionProvider {

  /// The transfer protocol for long tensors.
  public static final ConfigOption<TransferProtocol> PROTOCOL =
      ConfigOption.of(
          "rendezvous-protocol",
          OptionType.choice(TransferProtocol.class),
          "read",
          "how this rank receives long tensors of a rendezvous: read (it reads them), or write"
              + " (their producer writes them)");

  /// The grouping of receives into requests.
  public static final ConfigOption<TransferRequests> REQUESTS =
      ConfigOption.of(
          "rendezvous-requests",
          OptionType.choice(TransferRequests.class),
          "fused",
          "receives that are ready together: fused into one request, or single requests");

  /// The synchronization of the queue between user threads and the progress thread.
  public static final ConfigOption<TransferQueue> QUEUE =
      ConfigOption.of(
          "rendezvous-queue",
          OptionType.choice(TransferQueue.class),
          "lock-free",
          "queue of receives and publications for the progress thread: lock-free, or locked");

  /// Bound of the memory of received tensors, in bytes.
  public static final ConfigOption<Long> MEMORY =
      ConfigOption.of(
          "rendezvous-memory",
          OptionType.bytes(1 << 16, 1L << 42),
          "4G",
          "maximum memory for received tensors of a rendezvous, allocated on demand");

  /// For `ServiceLoader`.
  public RendezvousConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(PROTOCOL, REQUESTS, QUEUE, MEMORY);
  }
}
