// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

/// Something that the selector watches.
abstract class Pollable {

  /// Whether it is in the list of those that are ready.
  boolean queued;

  /// Its socket is ready; returns the amount of work done.
  abstract int ready(long nowNanos);
}
