// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

/// An object whose channel the selector watches.
abstract class Pollable {

  /// True while it is in the list of ready objects.
  boolean queued;

  /// Handles a ready socket; returns the amount of work done.
  abstract int ready(long nowNanos);
}
