// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.kv.frame.KvHead.Values;
import io.weft.tensor.quantize.Quantizer;
import org.jspecify.annotations.Nullable;

/// The format in which gradients of a dense tensor are sent to the servers. `toString` returns the
/// text that `parse` reads.
///
/// @param format on the wire
/// @param threshold of the 2-bit format; 0 for the others
record PushCompression(Values format, float threshold) {

  /// The texts that `parse` accepts.
  static final String ALLOWED =
      "none, fp16, int8, int4, and 2bit:threshold=T with T above 0, such as 2bit:threshold=0.5";

  private static final String TWO_BITS = "2bit:threshold=";

  /// Throws `IllegalArgumentException` with the allowed texts.
  static PushCompression parse(String text) {
    return switch (text) {
      case "none" -> new PushCompression(Values.FLOAT32, 0);
      case "fp16" -> new PushCompression(Values.FLOAT16, 0);
      case "int8" -> new PushCompression(Values.INT8, 0);
      case "int4" -> new PushCompression(Values.INT4, 0);
      default -> new PushCompression(Values.INT2, threshold(text));
    };
  }

  private static float threshold(String text) {
    if (text.startsWith(TWO_BITS)) {
      try {
        float threshold = Float.parseFloat(text.substring(TWO_BITS.length()));
        if (threshold > 0 && threshold <= Float.MAX_VALUE) {
          return threshold;
        }
      } catch (NumberFormatException wrong) {
        throw unknown(text, wrong);
      }
    }
    throw unknown(text, null);
  }

  private static IllegalArgumentException unknown(String text, @Nullable Exception cause) {
    return new IllegalArgumentException(
        "compression '" + text + "' is unknown; there are " + ALLOWED, cause);
  }

  /// Returns whether gradients are sent uncompressed.
  boolean isNone() {
    return format == Values.FLOAT32;
  }

  /// Returns an encoder for one tensor. Throws `ArithmeticException` for a tensor of more than
  /// 2^31-1 elements in 16 bits.
  PushEncoder encoder(String name, long elements) {
    return format == Values.FLOAT16
        ? new HalfFeedback(name, Math.toIntExact(elements))
        : new QuantizedFeedback(name, elements, new Quantizer(format.bits(), threshold));
  }

  @Override
  public String toString() {
    return switch (format) {
      case FLOAT32 -> "none";
      case FLOAT16 -> "fp16";
      case INT8 -> "int8";
      case INT4 -> "int4";
      case INT2 -> TWO_BITS + threshold;
    };
  }
}
