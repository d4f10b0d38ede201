// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.util.List;

/// The settings of the RDMA transport. Ranks may differ in all settings except the length of rings.
/// Stateless and thread-safe.
public final class VerbsConfig implements OptionProvider {

  /// The RDMA device.
  public static final ConfigOption<String> DEVICE =
      ConfigOption.withoutDefault(
          "verbs-device",
          OptionType.text(),
          "RDMA device of the transport verbs, such as mlx5_0; by default the first with an active"
              + " port");

  /// The port of the device.
  public static final ConfigOption<Integer> PORT =
      ConfigOption.of(
          "verbs-port",
          OptionType.number(0, 255),
          "0",
          "port of the RDMA device; 0 = the first active one");

  /// The address of the port.
  public static final ConfigOption<Integer> GID_INDEX =
      ConfigOption.of(
          "verbs-gid-index",
          OptionType.number(-1, 65_535),
          "-1",
          "place of the address in the GID table of the RDMA port; -1 = the preferred one");

  /// The length of the rings that an endpoint registers.
  public static final ConfigOption<Long> RING_BYTES =
      ConfigOption.of(
          "verbs-ring-bytes",
          OptionType.powerOfTwoBytes(1 << 16, 1 << 30),
          "256K",
          "length of each of the two RDMA rings of an endpoint, a power of two; the same on all"
              + " ranks; a message has at most a quarter of it, and at most 64K");

  /// The time that a device waits for an answer.
  public static final ConfigOption<Integer> TIMEOUT =
      ConfigOption.of(
          "verbs-timeout",
          OptionType.number(1, 31),
          "16",
          "how long an RDMA device waits for an answer: 4.096 us times two to this power");

  /// The number of retries without an answer.
  public static final ConfigOption<Integer> RETRIES =
      ConfigOption.of(
          "verbs-retries",
          OptionType.number(0, 7),
          "7",
          "number of retries of an RDMA device before the endpoint is lost");

  /// The number of retries if the receiver is not ready.
  public static final ConfigOption<Integer> RECEIVER_RETRIES =
      ConfigOption.of(
          "verbs-receiver-retries",
          OptionType.number(0, 7),
          "7",
          "number of retries of an RDMA device while the peer has no receive posted; 7 ="
              + " unlimited");

  /// The sharing of memory and threads between queue pairs.
  public static final ConfigOption<Integer> MODEL =
      ConfigOption.of(
          "verbs-model",
          OptionType.number(1, 3),
          "3",
          "how RDMA queue pairs share memory and threads: 1 = one send buffer for all; 2 = also a"
              + " polling thread; 3 = one send buffer for each");

  /// The bound of idle registered memory of the transport.
  public static final ConfigOption<Long> POOL_BYTES =
      ConfigOption.of(
          "verbs-pool-bytes",
          OptionType.bytes(0, 1L << 40),
          "64M",
          "most memory of the transport that stays registered with an RDMA device while no region"
              + " uses it; 0 = each region is registered separately");

  /// The bound of idle registered memory of programs.
  public static final ConfigOption<Long> CACHE_BYTES =
      ConfigOption.of(
          "verbs-cache-bytes",
          OptionType.bytes(0, 1L << 40),
          "256M",
          "most memory of programs that stays registered with an RDMA device while no region uses"
              + " it; 0 = each region is registered separately");

  /// The bound of copied payload.
  public static final ConfigOption<Long> COPIED_BYTES =
      ConfigOption.of(
          "verbs-copied-bytes",
          OptionType.bytes(64, 1 << 16),
          "4K",
          "largest payload that is copied into an RDMA ring; the device moves a longer one from"
              + " where it lies");

  /// The check of freed memory.
  public static final ConfigOption<Boolean> CHECK_FREED =
      ConfigOption.of(
          "verbs-check-freed",
          OptionType.flag(),
          "false",
          "fill freed memory of the transport with a pattern, and end the job if an RDMA device has"
              + " written to it since; for the search of a fault");

  /// Creates the provider for `ServiceLoader`.
  public VerbsConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(
        DEVICE,
        PORT,
        GID_INDEX,
        RING_BYTES,
        TIMEOUT,
        RETRIES,
        RECEIVER_RETRIES,
        MODEL,
        POOL_BYTES,
        CACHE_BYTES,
        COPIED_BYTES,
        CHECK_FREED);
  }
}
