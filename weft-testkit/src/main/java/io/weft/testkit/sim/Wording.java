// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.collective.FrameWords;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// The descriptions of messages in a trace. A message has the key of an operation but not its name,
/// which this observer of all ranks remembers from the submission.
final class Wording implements OperationObserver {

  private final Map<Long, String> names = new ConcurrentHashMap<>();

  /// Returns the description of a message at the moment when it is sent.
  String of(byte[] message) {
    if (message.length < 2) {
      return "";
    }
    return switch (message[0]) {
      case 0 -> FrameWords.of(message, key -> Optional.ofNullable(names.get(key)));
      case 1 -> "agreement";
      case -1 -> mesh(message[1]);
      default -> "service " + message[0] + " type " + message[1];
    };
  }

  private static String mesh(int type) {
    return switch (type) {
      case 0 -> "goodbye";
      case 1 -> "heartbeat";
      case 2 -> "lost";
      default -> "mesh, type " + type;
    };
  }

  @Override
  public boolean hearsStages() {
    return false;
  }

  @Override
  public void submitted(ObservedOperation operation) {
    if (operation.service() == ObservedOperation.Service.COLLECTIVE) {
      names.put(FrameWords.key(operation.communicator(), operation.name()), operation.name());
    }
  }
}
