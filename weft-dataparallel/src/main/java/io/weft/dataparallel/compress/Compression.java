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

/// The compression of FLOAT32 gradients; gradients of other types are not compressed. A value;
/// equal on all ranks. `toString` returns the text that `parse` reads.
///
/// Quantized and sparse gradients have error feedback: the error of an exchange remains on the rank
/// as the residual of the tensor's name and is added before the next exchange.
public sealed interface Compression {

  /// Sends gradients uncompressed.
  record None() implements Compression {
    @Override
    public TensorReducer wrap(Reducer below, Element.Source source) {
      Objects.requireNonNull(below, "below");
      Objects.requireNonNull(source, "source");
      return below;
    }

    @Override
    public GradientReducer.Factory reducers(Element.Source source) {
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

  /// Sends gradients as 16-bit numbers, and adds them in that type.
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
    public TensorReducer wrap(Reducer below, Element.Source source) {
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

  /// Sends gradients as integers of few bits, with a FLOAT32 scale for each block of 1,024: a
  /// quarter or an eighth of the bytes. Each rank adds one slice in FLOAT32, in rank order, so that
  /// sums do not overflow, and quantizes the mean again.
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
    public TensorReducer wrap(Reducer below, Element.Source source) {
      var quantizer = new Quantizer(bits);
      return new FeedbackReducer(
          below,
          source,
          (gradient, worker) -> new QuantizedExchange(below, worker, gradient, quantizer));
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

  /// Sends only the elements of the largest magnitude, as indices and values. A rank that omits an
  /// element counts as 0 in its mean.
  ///
  /// @param ratio fraction of a tensor's elements, above 0 and at most 1; at least one element is
  ///   sent
  record TopK(double ratio) implements Compression {
    /// Throws `IllegalArgumentException` for other ratios.
    public TopK {
      if (!(ratio > 0 && ratio <= 1)) {
        throw new IllegalArgumentException(
            "the ratio of elements that travel is above 0 and at most 1, got " + ratio);
      }
    }

    @Override
    public TensorReducer wrap(Reducer below, Element.Source source) {
      Objects.requireNonNull(source, "source");
      return new FeedbackReducer(
          below, source, (gradient, worker) -> new TopKExchange(below, worker, gradient, ratio));
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

  /// The texts that `parse` reads, in words.
  String ALLOWED = "none, fp16, bf16, int8, int4, or topk:RATIO with a ratio above 0 and at most 1";

  /// Parses `none`, `fp16`, `bf16`, `int8`, `int4` or `topk:RATIO`. Throws
  /// `IllegalArgumentException` with the allowed texts.
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

  /// Returns a reducer that compresses tensors over this reducer, which is borrowed and may fuse
  /// them. A rank may join after the handles of all its submissions are done. The returned reducer
  /// keeps the residual of each tensor name during its lifetime. With residuals, tensors of one
  /// name must have one length, and scale factors are applied to the result.
  ///
  /// An element that cannot be sent (NaN, infinity, or infinite in the narrower type), on a rank or
  /// in the sum, fails the exchange on all ranks with `Broken`, which names tensor, rank, value and
  /// index. Residuals and gradients then keep their values, and the reducer remains usable.
  default TensorReducer wrap(Reducer below) {
    Objects.requireNonNull(below, "below");
    return wrap(below, Element.Source.GRADIENT);
  }

  /// Returns a compressing reducer for tensors that consist of parts of others, which its errors
  /// name.
  TensorReducer wrap(Reducer below, Element.Source source);

  /// Returns a factory of compressing reducers over the layer's reducers.
  default GradientReducer.Factory reducers(DataParallel parallel) {
    Objects.requireNonNull(parallel, "parallel");
    return new LayerFactory() {
      @Override
      public DataParallel layer() {
        return parallel;
      }

      @Override
      public GradientReducer gradients(Reducer reducer) {
        return Compression.this.wrap(reducer);
      }
    };
  }

  /// Returns a factory of compressing reducers that send each gradient by itself, without the
  /// layer.
  default GradientReducer.Factory reducers() {
    return reducers(Element.Source.GRADIENT);
  }

  /// Returns a factory of compressing reducers, without the layer, for tensors that consist of
  /// parts of others, which their errors name.
  default GradientReducer.Factory reducers(Element.Source source) {
    return communicator -> wrap(Reducer.direct(communicator), source);
  }

  /// Returns the number of bytes that a rank sends to average a FLOAT32 tensor of `elements` over
  /// `ranks`, without message headers. It is the mean over the ranks, of an algorithm in which each
  /// rank sends each byte once.
  long payloadBytes(long elements, int ranks);
}
