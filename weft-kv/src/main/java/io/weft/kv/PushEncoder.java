// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import java.lang.foreign.MemorySegment;

/// Encodes a tensor's gradients in fewer bits and adds the encoding error to the next gradient. One
/// thread.
interface PushEncoder {

  /// Writes the encoded sum of gradients and residual. Throws `IllegalArgumentException`, which
  /// names tensor and element, for a sum that cannot be encoded. The residual is then unchanged.
  ///
  /// @param gradients FLOAT32
  void encode(MemorySegment gradients, MemorySegment into);
}
