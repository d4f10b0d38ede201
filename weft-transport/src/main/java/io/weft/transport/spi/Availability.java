// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import io.weft.transport.Capabilities;
import java.util.List;

/// The result of probing a transport on this machine, with a reason that an operator can act on.
public sealed interface Availability {

  /// The transport can be used.
  ///
  /// @param devices at least one
  record Available(List<Capabilities> devices) implements Availability {
    /// Copies the list.
    public Available {
      devices = List.copyOf(devices);
    }
  }

  /// The transport cannot be used.
  ///
  /// @param reason the missing requirement
  /// @param remedy how to provide it
  record Unavailable(String reason, String remedy) implements Availability {}
}
