// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.LayerFactory;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.TensorReducer;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.quantize.Quantizer;
import java.util.Objects;
import java.util.Optional;

/// How gradients of FLOAT32 travel; those of other types travel as they are. A value; the same on
/// all ranks. `toString` is the text that `parse` reads.
///
/// Quantized and sparse gradients have error feedback: what one exchange leaves out of a tensor of
/// this name stays on the rank as a residual and is added before the next.
public sealed interface Compression {

  /// As they are.
  record None() implements Compression {
    @Override
    public TensorReducer over(Reducer below, Element.Source source) {
      Objects.requireNonNull(below, "below");
      Objects.requireNonNull(source, "source");
      Objects.requireNonNull(below, "below");
      Objects.requireNonNull(source, "source");
      return below;
    }

    @Override
    public GradientReducer.Factory reducers(Element.Source source) {
      Objects.requireNonNull(source, "source");
      Objects.requireNonNull(source, "source");
      return GradientReducer.ALLREDUCE;
    }

    @Override
    public long payloadBytes(long elements, int ranks) {
      return 2L * (ranks - 1) * elements * Float.BYTES / ranks;
    }

    @Override
    public String toString() {
      return "none";
    }
  }

  /// As 16-bit numbers, which are also added as such.
  ///
  /// @param type FLOAT16 or BFLOAT16
  record Narrow(DType type) implements Compression {
    /// Throws `IllegalArgumentException` for other types.
    public Narrow {
      if (type != DType.FLOAT16 && type != DType.BFLOAT16) {
        throw new IllegalArgumentException("gradients travel as FLOAT16 or BFLOAT16, not " + type);
      }
    }

    @Override
    public TensorReducer over(Reducer below, Element.Source source) {
      Objects.requireNonNull(below, "below");
      Objects.requireNonNull(source, "source");
      return new NarrowReducer(below, type);
    }

    @Override
    public long payloadBytes(long elements, int ranks) {
      return 2L * (ranks - 1) * elements * type.bytes() / ranks;
    }

    @Override
    public String toString() {
      return type == DType.FLOAT16 ? "fp16" : "bf16";
    }
  }

  /// As whole numbers of few bits, with a FLOAT32 scale for each block of 1,024: a quarter or an
  /// eighth of the bytes. Each rank adds one slice in FLOAT32, in the order of ranks, so that
  /// nothing overflows, and quantizes the mean again.
  ///
  /// @param bits 8 or 4
  record Quantized(int bits) implements Compression {
    /// Throws `IllegalArgumentException` for other numbers of bits.
    public Quantized {
      if (bits != 8 && bits != 4) {
        throw new IllegalArgumentException("gradients are quantized to 8 or 4 bits, not " + bits);
      }
    }

    @Override
    public TensorReducer over(Reducer below, Element.Source source) {
      var quantizer = new Quantizer(bits);
      return new FeedbackReducer(
          below,
          source,
          (name, elements, worker) ->
              new QuantizedExchange(below, worker, name, elements, quantizer, source));
    }

    @Override
    public long payloadBytes(long elements, int ranks) {
      return 2L * (ranks - 1) * new Quantizer(bits).bytes(elements) / ranks;
    }

    @Override
    public String toString() {
      return "int" + bits;
    }
  }

  /// Only the largest elements by magnitude, as indices and values; the mean of an element that a
  /// rank leaves out counts that rank with 0.
  ///
  /// @param ratio of the elements of a tensor, above 0 and at most 1; at least one element travels
  record TopK(double ratio) implements Compression {
    /// Throws `IllegalArgumentException` for other ratios.
    public TopK {
      if (!(ratio > 0 && ratio <= 1)) {
        throw new IllegalArgumentException(
            "the ratio of elements that travel is above 0 and at most 1, got " + ratio);
      }
    }

    @Override
    public TensorReducer over(Reducer below, Element.Source source) {
      Objects.requireNonNull(source, "source");
      return new FeedbackReducer(
          below,
          source,
          (name, elements, worker) ->
              new TopKExchange(below, worker, name, elements, ratio, source));
    }

    @Override
    public long payloadBytes(long elements, int ranks) {
      return (ranks - 1) * TopKExchange.sent(elements, ratio) * TopKExchange.BYTES;
    }

    @Override
    public String toString() {
      return "topk:" + ratio;
    }
  }

  /// What `parse` reads, in words.
  String ALLOWED = "none, fp16, bf16, int8, int4, or topk:RATIO with a ratio above 0 and at most 1";

  /// Reads `none`, `fp16`, `bf16`, `int8`, `int4` or `topk:RATIO`. Throws
  /// `IllegalArgumentException` that says what is allowed.
  static Compression parse(String text) {
    return switch (text) {
      case "none" -> new None();
      case "fp16" -> new Narrow(DType.FLOAT16);
      case "bf16" -> new Narrow(DType.BFLOAT16);
      case "int8" -> new Quantized(8);
      case "int4" -> new Quantized(4);
      default ->
          ratio(text)
              .map(TopK::new)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "compression '" + text + "' is unknown; there are " + ALLOWED));
    };
  }

  private static Optional<Double> ratio(String text) {
    if (!text.matches("topk:(0?\\.[0-9]{1,9}|1(\\.0{1,9})?)")) {
      return Optional.empty();
    }
    double ratio = Double.parseDouble(text.substring("topk:".length()));
    return ratio > 0 ? Optional.of(ratio) : Optional.empty();
  }

  /// What carries tensors so, over this reducer, which is borrowed and may fuse them; ranks may
  /// join, when the handles of all that they have submitted are done. It keeps the residual of each
  /// tensor name for as long as it lives; a name is always of one length, and what it is scaled by
  /// is not compressed. An element that does not travel (a NaN, an infinity, one that is infinite
  /// in the narrower type), on a rank or in the sum, fails that exchange on all ranks with
  /// `Broken`, which names tensor, rank, value and index; residuals and gradients are then as they
  /// were, and the reducer works on.
  default TensorReducer over(Reducer below) {
    Objects.requireNonNull(below, "below");
    return over(below, Element.Source.GRADIENT);
  }

  /// The same for tensors that consist of parts of others, which errors then name.
  TensorReducer over(Reducer below, Element.Source source);

  /// Makes reducers that carry gradients so, over the layer's.
  default GradientReducer.Factory reducers(DataParallel parallel) {
    Objects.requireNonNull(parallel, "parallel");
    return new LayerFactory() {
      @Override
      public DataParallel layer() {
        return parallel;
      }

      @Override
      public GradientReducer gradients(Reducer reducer) {
        return Compression.this.over(reducer);
      }
    };
  }

  /// Makes reducers that carry gradients so, each by itself, without the layer.
  default GradientReducer.Factory reducers() {
    return reducers(Element.Source.GRADIENT);
  }

  /// The same for tensors that consist of parts of others, which errors then name.
  default GradientReducer.Factory reducers(Element.Source source) {
    return communicator -> over(Reducer.direct(communicator), source);
  }

  /// What a rank sends to average a tensor of so many FLOAT32 over so many ranks where no rank
  /// sends twice what it need send once: in bytes, without the heads of messages, the mean over the
  /// ranks.
  long payloadBytes(long elements, int ranks);
}
