// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.collective.frame.Hash;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongFunction;

/// Describes messages of collectives in words, for traces (docs/protocol/collective.md). Any
/// thread.
public final class FrameWords {

  private FrameWords() {}

  /// Returns a description such as "grant for 'g', use 3": message type, operation name and number
  /// of the use.
  ///
  /// @param message begins with the service number of collectives
  /// @param names names by operation key; empty for an unknown key
  public static String of(byte[] message, LongFunction<Optional<String>> names) {
    Objects.requireNonNull(names, "names");
    MemorySegment frame = MemorySegment.ofArray(message);
    CollectiveFrame.Type type = CollectiveFrame.type(frame);
    if (type == null) {
      return "collectives, unreadable";
    }
    String what = type.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    if (type == CollectiveFrame.Type.ABORT) {
      return what + ": " + CollectiveFrame.text(frame);
    }
    if (type == CollectiveFrame.Type.PUBLISHED) {
      return "slot published";
    }
    if (type == CollectiveFrame.Type.MAILBOX) {
      return what + (CollectiveFrame.aux(frame) == 0 ? ": none" : "");
    }
    long key = CollectiveFrame.key(frame);
    String name = names.apply(key).map(known -> "'" + known + "'").orElse(Long.toHexString(key));
    String stage =
        CollectiveFrame.stageIndex(frame) == 0
            ? ""
            : ", stage " + CollectiveFrame.stageIndex(frame);
    String rest = type == CollectiveFrame.Type.MISMATCH ? ": " + CollectiveFrame.text(frame) : "";
    return what + " for " + name + ", use " + (CollectiveFrame.sequence(frame) + 1) + stage + rest;
  }

  /// Returns the key of the operations of this name on a communicator.
  public static long key(long communicator, String name) {
    return Hash.of(communicator, name);
  }
}
