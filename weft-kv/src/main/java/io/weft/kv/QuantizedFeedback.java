// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.tensor.quantize.Quantizer;
import io.weft.tensor.quantize.Residual;
import java.lang.foreign.MemorySegment;

/// Quantizes a tensor's gradients and adds the quantization error to the next gradient. One thread.
final class QuantizedFeedback implements PushEncoder {

  private final String name;
  private final long elements;
  private final Quantizer quantizer;
  private final Residual residual;

  /// @param name of the tensor, for errors
  QuantizedFeedback(String name, long elements, Quantizer quantizer) {
    this.name = name;
    this.elements = elements;
    this.quantizer = quantizer;
    this.residual = new Residual(elements);
  }

  @Override
  public void encode(MemorySegment gradients, MemorySegment into) {
    long bad = quantizer.quantize(gradients, residual.kept(), residual.next(), elements, into, 0);
    if (bad >= 0) {
      throw new IllegalArgumentException(
          "tensor '%s': element %d is %s, plus the residual not finite; nothing was pushed"
              .formatted(name, bad, gradients.get(JAVA_FLOAT_UNALIGNED, 4 * bad)));
    }
    residual.commit();
  }
}
