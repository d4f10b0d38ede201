// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// The result of posting an operation.
public enum PostResult {
  /// The operation was accepted; exactly one completion will follow (none for a message).
  POSTED,
  /// The operation was not accepted for lack of space. The caller may retry after polling.
  BACK_PRESSURED,
  /// The operation was not accepted because the endpoint has failed or is closed.
  CLOSED
}
