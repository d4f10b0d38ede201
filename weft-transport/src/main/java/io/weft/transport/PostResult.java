// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

/// The result of posting an operation.
public enum PostResult {
  /// Accepted; exactly one completion will follow (none for a message).
  POSTED,
  /// Not accepted for lack of space. The caller may retry after polling.
  BACK_PRESSURED,
  /// Not accepted, because the endpoint has ended.
  CLOSED
}
