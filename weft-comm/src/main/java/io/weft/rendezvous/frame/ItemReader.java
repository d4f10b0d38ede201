// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.item.MessageReader;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Reads a message of the rendezvous item by item. What a peer sends is not trusted: whatever does
/// not fit makes the reader unsound, and from then on it reads zeros and empty things. Ask
/// `isSound` before using what was read.
public final class ItemReader {

  private static final TensorSignature NOTHING = new TensorSignature(DType.UINT8, Shape.of(0), 0);

  private final MessageReader in = new MessageReader();

  public ItemReader() {}

  /// Begins a message, valid while it is.
  public void begin(MemorySegment received) {
    in.begin(received);
  }

  /// Whether all that was read so far was there, and what it should be.
  public boolean isSound() {
    return in.isSound();
  }

  /// The next item's type; null at the end, which is sound if nothing follows, or if there is no
  /// such type.
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

  /// A text without control characters, at most as long as one may be.
  public String text() {
    return in.text(ItemWriter.MAX_TEXT_BYTES);
  }

  /// Type and shape, whose extents are not negative and whose bytes fit a `long`.
  ///
  /// Hot path, if it is like the one that is expected.
  ///
  /// @param expected is returned where it is equal
  public TensorSignature signature(@Nullable TensorSignature expected) {
    DType dtype = TensorSignature.dtype(one());
    int rank = one();
    if (dtype == null || rank > TensorSignature.MAX_RANK) {
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

  private boolean isLike(TensorSignature expected, DType dtype, int rank, MemorySegment extents) {
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

  private TensorSignature signature(DType dtype, int rank, MemorySegment extents) {
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
    return new TensorSignature(dtype, Shape.of(dims), elements * dtype.bytes());
  }

  public RemoteRegion region() {
    return in.region();
  }

  /// The next bytes, valid while the message is.
  public MemorySegment bytes(long count) {
    return in.bytes(count);
  }
}
