// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

/// The first byte of every message between two ranks: whose it is. All of them, so that no two
/// services take the same one.
public final class ServiceIds {

  /// Collectives of tensors.
  public static final byte COLLECTIVES = 0;

  /// Agreements of survivors on the membership.
  public static final byte MEMBERSHIP = 1;

  /// Tensors by edge and step.
  public static final byte RENDEZVOUS = 2;

  /// Requests and replies.
  public static final byte CHANNEL = 3;

  /// The mesh itself: heartbeats, losses, the graceful close. No service has it, since it is
  /// negative.
  static final byte MESH = (byte) 0xff;

  private ServiceIds() {}
}
