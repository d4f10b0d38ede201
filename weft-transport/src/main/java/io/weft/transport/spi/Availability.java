// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import io.weft.transport.Capabilities;
import java.util.List;

/// Whether a transport can be used on this machine, and if not why not, in words that an operator
/// can act on.
public sealed interface Availability {

  /// It can.
  ///
  /// @param devices at least one
  record Available(List<Capabilities> devices) implements Availability {
    /// Copies the list.
    public Available {
      devices = List.copyOf(devices);
    }
  }

  /// It cannot.
  ///
  /// @param reason what is missing
  /// @param remedy how to get it
  record Unavailable(String reason, String remedy) implements Availability {}
}
