// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import io.weft.Weft;
import io.weft.collective.FrameWords;
import io.weft.flight.FlightLog;
import io.weft.testkit.sim.network.SimNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// The descriptions of messages in a trace. A message has the key of an operation but not its name,
/// which is looked up in the sender's flight recorder.
final class Wording {

  private final Map<Long, String> names = new HashMap<>();

  /// Returns the description of a message at the moment when it is sent.
  String of(SimNode sender, byte[] message) {
    if (message.length < 2) {
      return "";
    }
    return switch (message[0]) {
      case 0 -> FrameWords.of(message, key -> name((SimProcess) sender, key));
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

  private Optional<String> name(SimProcess sender, long key) {
    Weft weft = sender.weft();
    if (!names.containsKey(key) && weft != null) {
      for (FlightLog.Flight operation : weft.flight().operations()) {
        names.put(FrameWords.key(operation.communicator(), operation.name()), operation.name());
      }
    }
    return Optional.ofNullable(names.get(key));
  }
}
