// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.config.Settings;
import io.weft.transport.TransportException;
import io.weft.verbs.device.QueuePairSettings;
import io.weft.verbs.memory.MemorySettings;
import io.weft.verbs.model.ThreadingModel;
import io.weft.verbs.ring.RingCredits;

/// Which device to use and how patient its queue pairs are (docs/configuration.md). Read from the
/// settings of whoever opens the transport.
///
/// @param device its name; empty for the first with an active port
/// @param port its number; 0 for the first active one
/// @param gidIndex place of the address in the port's table; -1 for the preferred one
/// @param ringBytes of each of the two rings of an endpoint, a power of two; equal on all ranks
/// @param timeout how long to wait for an answer: 4.096 us times two to this power
/// @param retries how often to ask again
/// @param receiverRetries how often to try again when the peer had no receive posted; 7 for ever
/// @param memory how much of it stays registered
/// @param model how queue pairs share memory and threads
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

  /// Frames that may be in a ring at a time.
  static final int SLOTS = RingCredits.SLOTS;

  /// Receives that are posted: one for each frame, and for what is told of consumed ones, at most
  /// eight times a ring and a round of slots.
  static final int RECEIVES = SLOTS + 32;

  /// Work requests of one endpoint; a power of two.
  static final int SENDS = 256;

  /// Payload that is taken along when a request is posted.
  static final int INLINE_BYTES = 128;

  private static final int RECEIVER_WAIT = 12;

  /// Of this process, as system properties and environment say. Throws as `of` does.
  static VerbsSettings ofThisProcess() {
    return of(Settings.ofThisProcess());
  }

  /// Throws `TransportException.DeviceLost` for a value that is not allowed.
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
              given.required(VerbsConfig.POOL_BYTES), given.required(VerbsConfig.CACHE_BYTES)),
          ThreadingModel.of(given.required(VerbsConfig.MODEL)));
    } catch (IllegalArgumentException refused) {
      throw new TransportException.DeviceLost(String.valueOf(refused.getMessage()), refused);
    }
  }

  QueuePairSettings queuePair() {
    return new QueuePairSettings(
        SENDS, RECEIVES, INLINE_BYTES, timeout, retries, receiverRetries, RECEIVER_WAIT);
  }
}
