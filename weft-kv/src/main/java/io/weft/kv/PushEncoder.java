// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.lang.foreign.MemorySegment;

/// Writes a tensor's gradients in fewer bits and keeps what that leaves out for the next ones. One
/// thread.
interface PushEncoder {

  /// Writes gradients plus residual. Throws `IllegalArgumentException`, which names tensor and
  /// element, for a sum that cannot be written; the residual is as before then.
  ///
  /// @param gradients FLOAT32
  void encode(MemorySegment gradients, MemorySegment into);
}
