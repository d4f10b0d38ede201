// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import io.weft.transport.TransportException;
import io.weft.verbs.device.QueuePairSettings;
import io.weft.verbs.memory.MemorySettings;
import io.weft.verbs.model.ThreadingModel;
import io.weft.verbs.ring.RingCredits;
import java.util.Map;
import java.util.Properties;

/// Which device to use and how patient its queue pairs are (docs/configuration.md). Given by
/// whoever opens the transport, else read from system properties, else from the environment.
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

  static final int MIN_RING_BYTES = 1 << 19;

  private static final int MAX_RING_BYTES = 1 << 30;
  private static final long MAX_KEPT_BYTES = 1L << 40;

  /// Payload that is taken along when a request is posted.
  static final int INLINE_BYTES = 128;

  private static final int RECEIVER_WAIT = 12;

  /// Of this process. Throws `TransportException.DeviceLost` for a value that is not allowed.
  static VerbsSettings ofThisProcess() {
    return of(Map.of());
  }

  /// Those given, by names such as `ring-bytes`, over those of this process. Throws as
  /// `ofThisProcess`.
  static VerbsSettings of(Map<String, String> given) {
    return of(given, System.getenv(), System.getProperties());
  }

  static VerbsSettings of(
      Map<String, String> given, Map<String, String> environment, Properties properties) {
    Source source = new Source(given, environment, properties);
    int ring = source.number("ring-bytes", 1 << 20, MIN_RING_BYTES, MAX_RING_BYTES);
    if (Integer.bitCount(ring) != 1) {
      throw source.refused("ring-bytes", Integer.toString(ring), "a power of two");
    }
    return new VerbsSettings(
        source.text("device", ""),
        source.number("port", 0, 0, 255),
        source.number("gid-index", -1, -1, 65535),
        ring,
        source.number("timeout", 16, 1, 31),
        source.number("retries", 7, 0, 7),
        source.number("receiver-retries", 7, 0, 7),
        new MemorySettings(
            source.whole("pool-bytes", 64L << 20, 0, MAX_KEPT_BYTES),
            source.whole("cache-bytes", 256L << 20, 0, MAX_KEPT_BYTES)),
        ThreadingModel.of(
            source.number(
                "model", ThreadingModel.OWN_BUFFERS.number(), 1, ThreadingModel.values().length)));
  }

  QueuePairSettings queuePair() {
    return new QueuePairSettings(
        SENDS, RECEIVES, INLINE_BYTES, timeout, retries, receiverRetries, RECEIVER_WAIT);
  }

  private record Source(
      Map<String, String> given, Map<String, String> environment, Properties properties) {

    String text(String name, String otherwise) {
      if (given.containsKey(name)) {
        return given.getOrDefault(name, otherwise);
      }
      String found = properties.getProperty(property(name));
      return found != null ? found : environment.getOrDefault(variable(name), otherwise);
    }

    int number(String name, int otherwise, int least, int most) {
      return (int) whole(name, otherwise, least, most);
    }

    long whole(String name, long otherwise, long least, long most) {
      String text = text(name, "");
      if (text.isEmpty()) {
        return otherwise;
      }
      try {
        long number = Long.parseLong(text);
        if (number >= least && number <= most) {
          return number;
        }
      } catch (NumberFormatException e) {
        throw refused(name, text, "a number from " + least + " to " + most);
      }
      throw refused(name, text, "a number from " + least + " to " + most);
    }

    TransportException refused(String name, String value, String allowed) {
      String where =
          given.containsKey(name)
              ? SETTING + name
              : properties.getProperty(property(name)) != null ? property(name) : variable(name);
      return new TransportException.DeviceLost(
          where + " is '" + value + "', allowed is " + allowed, null);
    }

    private static final String SETTING = "option verbs-";

    private static String property(String name) {
      return "weft.verbs." + name.replace('-', '.');
    }

    private static String variable(String name) {
      return "WEFT_VERBS_" + name.toUpperCase(java.util.Locale.ROOT).replace('-', '_');
    }
  }
}
