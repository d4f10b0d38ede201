// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// What became of posted work.
public enum PostResult {
  /// Accepted; exactly one completion will follow (none for a message).
  POSTED,
  /// Nothing happened: no room now. Try again after polling.
  BACK_PRESSURED,
  /// Nothing happened: this endpoint is dead.
  CLOSED
}
