// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.config.Settings;
import io.weft.transport.TransportException;
import io.weft.verbs.device.QueuePairSettings;
import io.weft.verbs.memory.MemorySettings;
import io.weft.verbs.model.ThreadingModel;

/// The device and the parameters of its queue pairs (docs/configuration.md), from the settings with
/// which the transport is opened.
///
/// @param device its name; empty for the first with an active port
/// @param port its number; 0 for the first active one
/// @param gidIndex index of the address in the port's table; -1 for the preferred one
/// @param ringBytes length of each of the two rings of an endpoint, a power of two; equal on all
///   ranks
/// @param timeout time to wait for an answer: 4.096 us times two to this power
/// @param retries number of retries without an answer
/// @param receiverRetries number of retries while the peer has no receive posted; 7 for unlimited
/// @param memory bounds of idle registered memory, the longest copied payload, and the check of
///   freed memory
/// @param model sharing of memory and threads between queue pairs
record VerbsSettings(
    String device,
    int port,
    int gidIndex,
    int ringBytes,
    int timeout,
    int retries,
    int receiverRetries,
    MemorySettings memory,
    ThreadingModel model) {

  /// The count of work requests of one endpoint, a power of two.
  static final int SENDS = 64;

  /// The longest payload that posting copies.
  static final int INLINE_BYTES = 128;

  private static final int RECEIVER_WAIT = 12;

  /// Reads the settings of this process's system properties and environment. Throws as `of` does.
  static VerbsSettings ofThisProcess() {
    return of(Settings.ofThisProcess());
  }

  /// Reads the settings. Throws `TransportException.DeviceLost` for a value that is not allowed.
  static VerbsSettings of(Settings given) {
    try {
      return new VerbsSettings(
          given.value(VerbsConfig.DEVICE).orElse(""),
          given.required(VerbsConfig.PORT),
          given.required(VerbsConfig.GID_INDEX),
          Math.toIntExact(given.required(VerbsConfig.RING_BYTES)),
          given.required(VerbsConfig.TIMEOUT),
          given.required(VerbsConfig.RETRIES),
          given.required(VerbsConfig.RECEIVER_RETRIES),
          new MemorySettings(
              given.required(VerbsConfig.POOL_BYTES),
              given.required(VerbsConfig.CACHE_BYTES),
              Math.toIntExact(given.required(VerbsConfig.COPIED_BYTES)),
              given.required(VerbsConfig.CHECK_FREED)),
          ThreadingModel.of(given.required(VerbsConfig.MODEL)));
    } catch (IllegalArgumentException refused) {
      throw new TransportException.DeviceLost(String.valueOf(refused.getMessage()), refused);
    }
  }

  QueuePairSettings queuePair() {
    return new QueuePairSettings(
        SENDS, INLINE_BYTES, timeout, retries, receiverRetries, RECEIVER_WAIT);
  }
}
