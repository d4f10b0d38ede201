// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// The state of a device's port at the time of a query.
///
/// @param number from 1 on
/// @param state as `enum ibv_port_state`
/// @param activeMtu as `enum ibv_mtu`: 1 is 256 bytes, 5 is 4096
/// @param gids entries of its address table, including empty ones
/// @param maxMessageBytes longest single operation
/// @param lid its address in an InfiniBand subnet
/// @param linkLayer code of the library
public record Port(
    int number, int state, int activeMtu, int gids, long maxMessageBytes, int lid, int linkLayer) {

  private static final int ACTIVE = 4;
  private static final int ETHERNET = 2;
  private static final int SMALLEST_MTU_SHIFT = 7;

  /// Returns whether the port is active.
  public boolean isActive() {
    return state == ACTIVE;
  }

  /// Returns whether the port is RoCE, where only global addresses identify peers.
  public boolean isEthernet() {
    return linkLayer == ETHERNET;
  }

  /// Returns the payload length of one packet.
  public int mtuBytes() {
    return 1 << (activeMtu + SMALLEST_MTU_SHIFT);
  }

  /// Returns a description of the state for a message.
  public String stateWords() {
    return switch (state) {
      case 1 -> "down";
      case 2 -> "initializing; on InfiniBand a subnet manager has to run";
      case 3 -> "armed; on InfiniBand a subnet manager has to run";
      case ACTIVE -> "active";
      case 5 -> "active, its link interrupted";
      default -> "in state " + state;
    };
  }
}
