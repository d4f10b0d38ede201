// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.comm.Handle;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.spec.TableSpec;
import io.weft.tensor.TensorLease;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.LongFunction;

/// Pushes of one dense tensor in a compressed format. The encoding error of a gradient stays on
/// this worker as a residual, 4 or 8 bytes per element, and is added to the next gradient. Servers
/// decode the push and apply FLOAT32. Owns its memory. One thread.
///
/// | text | sent as |
/// |---|---|
/// | `fp16` | 16 bits, rounded to nearest even |
/// | `int8`, `int4` | whole numbers of 8 or 4 bits, and a FLOAT32 scale for each 1,024 elements: the largest magnitude divided by the largest number |
/// | `2bit:threshold=0.5` | minus threshold, 0 or threshold, in 2 bits, and the threshold for each 1,024 elements (MXNet's 2-bit compression) |
public final class CompressedPushes implements AutoCloseable {

  private final TableSpec spec;
  private final PushCompression compression;
  private final PushEncoder encoder;
  private final Sender sender;
  private final TensorLease encoded;
  private Optional<Handle<Void>> before = Optional.empty();

  /// Sends an encoded gradient.
  @FunctionalInterface
  interface Sender {
    Handle<Void> push(MemorySegment values, Values format, int priority)
        throws InterruptedException;
  }

  CompressedPushes(
      TableSpec spec,
      PushCompression compression,
      LongFunction<TensorLease> staging,
      Sender sender) {
    if (compression.isNone()) {
      throw new IllegalArgumentException(
          "tensor '" + spec.name() + "': compression 'none' is what push does");
    }
    this.spec = spec;
    this.compression = compression;
    this.encoder = compression.encoder(spec.name(), spec.width());
    this.sender = sender;
    this.encoded = staging.apply(compression.format().bytes(spec.width()));
  }

  /// Pushes a FLOAT32 gradient of the tensor's length. The gradient is read before this returns.
  /// Waits until the servers have received the previous push, and throws the error of that push if
  /// it failed. Throws `IllegalArgumentException`, without pushing anything, for an element that is
  /// not finite, or too large for 16 bits.
  ///
  /// If a push fails, the part of the residual that it contained is lost.
  ///
  /// @param priority higher priorities are sent first
  public Handle<Void> push(MemorySegment gradients, int priority) throws InterruptedException {
    if (gradients.byteSize() != 4 * spec.width()) {
      throw new IllegalArgumentException(
          "tensor '%s': a gradient of %d bytes for %d elements of FLOAT32, expected %d"
              .formatted(spec.name(), gradients.byteSize(), spec.width(), 4 * spec.width()));
    }
    if (before.isPresent()) {
      Handle<Void> under = before.get();
      before = Optional.empty();
      var unused = under.await();
    }
    MemorySegment into = encoded.view().data().asSlice(0, compression.format().bytes(spec.width()));
    encoder.encode(gradients, into);
    Handle<Void> handle = sender.push(into, compression.format(), priority);
    before = Optional.of(handle);
    return handle;
  }

  /// Returns the bytes of values that a push sends.
  public long bytes() {
    return compression.format().bytes(spec.width());
  }

  /// Frees the memory as soon as no push reads it.
  @Override
  public void close() {
    if (before.isPresent()) {
      before.get().whenDone((nothing, cause) -> encoded.close());
    } else {
      encoded.close();
    }
  }
}
