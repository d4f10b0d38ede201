// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.transport.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Reads one message item by item. What a peer sends is not trusted: whatever does not fit makes
/// the reader unsound, and from then on it reads zeros and empty things. Ask `isSound` before using
/// what was read.
public final class ItemReader {

  private static final TensorSignature NOTHING = new TensorSignature(DType.UINT8, Shape.of(0), 0);

  private MemorySegment message = MemorySegment.NULL;
  private long at;
  private long end;
  private int left;
  private boolean sound;

  public ItemReader() {}

  /// Begins a message, valid while it is.
  public void begin(MemorySegment received) {
    message = received;
    end = received.byteSize();
    sound = end >= ItemWriter.HEADER_BYTES && received.get(JAVA_BYTE, 1) == 0;
    left = sound ? received.get(JAVA_SHORT_UNALIGNED, 2) & 0xffff : 0;
    at = ItemWriter.HEADER_BYTES;
  }

  /// Whether all that was read so far was there, and what it should be.
  public boolean isSound() {
    return sound;
  }

  /// The next item's type; null at the end, which is sound if nothing follows, or if there is no
  /// such type.
  public @Nullable ItemType next() {
    if (!sound || left == 0) {
      sound &= at == end;
      return null;
    }
    left--;
    ItemType type = ItemType.of(one());
    sound &= type != null;
    return sound ? type : null;
  }

  /// Hot path.
  public int one() {
    return has(1) ? message.get(JAVA_BYTE, at++) & 0xff : 0;
  }

  /// Hot path.
  public int number() {
    if (!has(4)) {
      return 0;
    }
    at += 4;
    return message.get(JAVA_INT_UNALIGNED, at - 4);
  }

  /// Hot path.
  public long longNumber() {
    if (!has(8)) {
      return 0;
    }
    at += 8;
    return message.get(JAVA_LONG_UNALIGNED, at - 8);
  }

  /// A text without control characters, at most as long as one may be.
  public String text() {
    if (!has(2)) {
      return "";
    }
    int length = message.get(JAVA_SHORT_UNALIGNED, at) & 0xffff;
    at += 2;
    if (length > ItemWriter.MAX_TEXT_BYTES || !has(length)) {
      sound = false;
      return "";
    }
    byte[] bytes = message.asSlice(at, length).toArray(JAVA_BYTE);
    at += length;
    return new String(bytes, StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "?");
  }

  /// Type and shape, whose extents are not negative and whose bytes fit a `long`.
  ///
  /// Hot path, if it is like the one that is expected.
  ///
  /// @param expected is returned where it is equal
  public TensorSignature signature(@Nullable TensorSignature expected) {
    DType dtype = TensorSignature.dtype(one());
    int rank = one();
    if (dtype == null || rank > TensorSignature.MAX_RANK || !has(8L * rank)) {
      sound = false;
      return NOTHING;
    }
    long from = at;
    at += 8L * rank;
    if (expected != null && isLike(expected, dtype, rank, from)) {
      return expected;
    }
    return signature(dtype, rank, from);
  }

  private boolean isLike(TensorSignature expected, DType dtype, int rank, long from) {
    if (expected.dtype() != dtype || expected.shape().dims().size() != rank) {
      return false;
    }
    for (int i = 0; i < rank; i++) {
      if (expected.shape().dims().get(i) != message.get(JAVA_LONG_UNALIGNED, from + 8L * i)) {
        return false;
      }
    }
    return true;
  }

  private TensorSignature signature(DType dtype, int rank, long from) {
    long[] dims = new long[rank];
    long elements = 1;
    boolean fits = true;
    for (int i = 0; i < rank; i++) {
      dims[i] = message.get(JAVA_LONG_UNALIGNED, from + 8L * i);
      fits &= dims[i] >= 0 && Math.multiplyHigh(elements, dims[i]) == 0;
      elements *= dims[i];
      fits &= elements >= 0;
    }
    if (!fits || elements > Long.MAX_VALUE / dtype.bytes()) {
      sound = false;
      return NOTHING;
    }
    return new TensorSignature(dtype, Shape.of(dims), elements * dtype.bytes());
  }

  public RemoteRegion region() {
    return new RemoteRegion(longNumber(), longNumber(), number(), longNumber());
  }

  /// The next bytes, valid while the message is.
  public MemorySegment bytes(long count) {
    if (!has(count)) {
      return MemorySegment.NULL;
    }
    at += count;
    return message.asSlice(at - count, count);
  }

  private boolean has(long bytes) {
    sound &= bytes >= 0 && bytes <= end - at;
    return sound;
  }
}
