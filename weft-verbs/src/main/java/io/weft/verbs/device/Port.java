// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

/// A port of a device, as it was when it was asked.
///
/// @param number from 1 on
/// @param state as `enum ibv_port_state`
/// @param activeMtu as `enum ibv_mtu`: 1 is 256 bytes, 5 is 4096
/// @param gids entries of its table of addresses, empty ones included
/// @param maxMessageBytes longest single operation
/// @param lid its address in an InfiniBand subnet
/// @param linkLayer as the library numbers it
public record Port(
    int number, int state, int activeMtu, int gids, long maxMessageBytes, int lid, int linkLayer) {

  private static final int ACTIVE = 4;
  private static final int ETHERNET = 2;
  private static final int SMALLEST_MTU_SHIFT = 7;

  /// Whether it carries traffic.
  public boolean isActive() {
    return state == ACTIVE;
  }

  /// Whether it is RoCE, where peers are found by their global address only.
  public boolean isEthernet() {
    return linkLayer == ETHERNET;
  }

  /// Payload of one packet.
  public int mtuBytes() {
    return 1 << (activeMtu + SMALLEST_MTU_SHIFT);
  }

  /// For a message.
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
