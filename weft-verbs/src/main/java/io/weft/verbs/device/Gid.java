// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// An address of a port.
///
/// @param index in the port's table
/// @param prefix its first 8 bytes, big-endian
/// @param suffix its last 8 bytes
/// @param type protocol of the address
public record Gid(int index, long prefix, long suffix, GidType type) {

  /// The length of an address in bytes.
  public static final int BYTES = 16;

  private static final long IPV4_MAPPED = 0xFFFFL << 32;
  private static final long LINK_LOCAL = 0xFE80L << 48;

  /// The protocol of packets with this address, in the order of `enum ibv_gid_type`.
  public enum GidType {
    /// InfiniBand.
    INFINIBAND,
    /// Ethernet frames, not routed.
    ROCE_V1,
    /// UDP over IP.
    ROCE_V2
  }

  static Gid of(int index, byte[] bytes, int type) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    GidType[] types = GidType.values();
    return new Gid(
        index, buffer.getLong(), buffer.getLong(), types[Math.clamp(type, 0, types.length - 1)]);
  }

  /// Returns the 16 bytes in network order.
  public byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putLong(prefix).putLong(suffix).array();
  }

  /// Returns whether the address represents an IPv4 address.
  public boolean isIpv4Mapped() {
    return prefix == 0 && suffix >>> 32 == IPV4_MAPPED >>> 32;
  }

  /// Returns the address by which two hosts are most likely to reach each other. RoCE v2 with an
  /// IPv4 address comes first, then another routed address, then link-local; then InfiniBand, then
  /// RoCE v1.
  public static Optional<Gid> preferred(List<Gid> gids) {
    return gids.stream().min(Comparator.comparingInt(Gid::rank).thenComparingInt(Gid::index));
  }

  private int rank() {
    return switch (type) {
      case ROCE_V2 -> isIpv4Mapped() ? 0 : prefix == LINK_LOCAL ? 2 : 1;
      case INFINIBAND -> 3;
      case ROCE_V1 -> 4;
    };
  }

  @Override
  public String toString() {
    if (isIpv4Mapped()) {
      return "::ffff:%d.%d.%d.%d"
          .formatted(
              suffix >>> 24 & 0xFF, suffix >>> 16 & 0xFF, suffix >>> 8 & 0xFF, suffix & 0xFF);
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 8; i++) {
      long half = i < 4 ? prefix : suffix;
      text.append(i == 0 ? "" : ":").append(Long.toHexString(half >>> (48 - i % 4 * 16) & 0xFFFF));
    }
    return text.toString();
  }
}
