// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.item.MessageReader;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A reader of the items of a rendezvous message. Messages of peers are not trusted: malformed data
/// makes the reader unsound, and from then on it returns zeros and empty values. The caller must
/// check `isSound` before it uses the values.
public final class ItemReader {

  private static final TensorSpec NOTHING = new TensorSpec(DType.UINT8, Shape.of(0), 0);

  private final MessageReader in = new MessageReader();

  public ItemReader() {}

  /// Begins a message. The reader is valid while the message is.
  public void begin(MemorySegment received) {
    in.begin(received);
  }

  /// Returns whether everything read from this message was present and well-formed.
  public boolean isSound() {
    return in.isSound();
  }

  /// Returns the next item's type. Returns null after the last item, where the message is sound
  /// only if nothing follows, and for an unknown type.
  public @Nullable ItemType next() {
    int code = in.next();
    if (code == MessageReader.END) {
      return null;
    }
    ItemType type = ItemType.of(code);
    if (type == null) {
      in.distrust();
    }
    return type;
  }

  /// Hot path.
  public int one() {
    return in.one();
  }

  /// Hot path.
  public int number() {
    return in.number();
  }

  /// Hot path.
  public long longNumber() {
    return in.longNumber();
  }

  /// Reads a text of at most `ItemWriter.MAX_TEXT_BYTES` bytes, and makes it printable.
  public String text() {
    return in.text(ItemWriter.MAX_TEXT_BYTES);
  }

  /// Reads type and shape. The extents must not be negative and the number of bytes must fit a
  /// `long`.
  ///
  /// Hot path, if the signature equals the expected one.
  ///
  /// @param expected returned if it equals the signature read
  public TensorSpec signature(@Nullable TensorSpec expected) {
    DType dtype = TensorSpec.dtype(one());
    int rank = one();
    if (dtype == null || rank > TensorSpec.MAX_RANK) {
      in.distrust();
      return NOTHING;
    }
    MemorySegment extents = in.bytes(8L * rank);
    if (!in.isSound()) {
      return NOTHING;
    }
    if (expected != null && isLike(expected, dtype, rank, extents)) {
      return expected;
    }
    return signature(dtype, rank, extents);
  }

  private boolean isLike(TensorSpec expected, DType dtype, int rank, MemorySegment extents) {
    if (expected.dtype() != dtype || expected.shape().dims().size() != rank) {
      return false;
    }
    for (int i = 0; i < rank; i++) {
      if (expected.shape().dims().get(i) != extents.get(JAVA_LONG_UNALIGNED, 8L * i)) {
        return false;
      }
    }
    return true;
  }

  private TensorSpec signature(DType dtype, int rank, MemorySegment extents) {
    long[] dims = new long[rank];
    long elements = 1;
    boolean fits = true;
    for (int i = 0; i < rank; i++) {
      dims[i] = extents.get(JAVA_LONG_UNALIGNED, 8L * i);
      fits &= dims[i] >= 0 && Math.multiplyHigh(elements, dims[i]) == 0;
      elements *= dims[i];
      fits &= elements >= 0;
    }
    if (!fits || elements > Long.MAX_VALUE / dtype.bytes()) {
      in.distrust();
      return NOTHING;
    }
    return new TensorSpec(dtype, Shape.of(dims), elements * dtype.bytes());
  }

  public RemoteRegion region() {
    return in.region();
  }

  /// Returns the next bytes, valid while the message is.
  public MemorySegment bytes(long count) {
    return in.bytes(count);
  }
}
