// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.record;

import io.weft.observer.ObservedOperation;

/// The numbers of operations, unique on a rank: the id of the operation with its service in the
/// last two bits, because each service counts ids separately. Stateless.
public final class OperationKey {

  /// The difference between the numbers of two operations of a service with successive ids.
  public static final long STEP = 4;

  private static final int COLLECTIVE = 1;

  private OperationKey() {}

  /// Returns the number of an operation.
  ///
  /// Hot path.
  public static long of(ObservedOperation operation) {
    int service =
        switch (operation.service()) {
          case COLLECTIVE -> COLLECTIVE;
          case RENDEZVOUS -> 2;
          case CHANNEL -> 3;
          case KV_WORKER, KV_SERVER -> 0; // both count by the channel's numbers
        };
    return operation.id() * STEP | service;
  }

  /// Returns true if the operation of this number is a collective.
  public static boolean isCollective(long key) {
    return (key & STEP - 1) == COLLECTIVE;
  }
}
