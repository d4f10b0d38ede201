// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

/// The first byte of every message between two ranks, which identifies the service. This class
/// lists all of them, so that no two services use the same one.
public final class ServiceIds {

  /// The collectives.
  public static final byte COLLECTIVES = 0;

  /// The agreements of survivors on the membership.
  public static final byte MEMBERSHIP = 1;

  /// The exchange of tensors by edge and step.
  public static final byte RENDEZVOUS = 2;

  /// The requests and replies.
  public static final byte CHANNEL = 3;

  /// The mesh itself: heartbeats, losses, the graceful close. It is negative, which no service id
  /// may be.
  static final byte MESH = (byte) 0xff;

  private ServiceIds() {}
}
