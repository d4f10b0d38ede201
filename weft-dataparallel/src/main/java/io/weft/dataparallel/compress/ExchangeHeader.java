// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.comm.CommException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// The header of a rank's elements, by which all ranks find the same errors: 40 bytes. Bytes 0 to
/// 7: number of elements of the tensor. 8 to 15: number of sent elements. 16 to 23: place of the
/// first element that is not finite, or -1. 24 to 27: that element. 28 to 31: bits of a sent
/// element. 32 to 35: the sender's rank in the communicator. 36 to 39: zero. Pure.
///
/// @param gradient the tensor
/// @param sent number of sent elements
/// @param bits bits of a sent element
/// @param ranks ranks of the job, by rank of the communicator
record ExchangeHeader(CompressedGradient gradient, long sent, int bits, List<Integer> ranks) {

  static final int BYTES = 40;

  private static final String UNDONE =
      "; the exchange is undone on all ranks, residuals and gradients are as before; lower the"
          + " learning rate, clip gradients, or leave out compression";

  private static final int SENT = 8;
  private static final int BAD = 16;
  private static final int VALUE = 24;
  private static final int BITS = 28;
  private static final int SENDER = 32;

  /// Hot path.
  ///
  /// @param sender this rank
  /// @param bad place of the first element that is not finite, or -1
  /// @param value that element
  void write(MemorySegment into, long offset, int sender, long bad, float value) {
    into.set(JAVA_LONG_UNALIGNED, offset, gradient.elements());
    into.set(JAVA_LONG_UNALIGNED, offset + SENT, sent);
    into.set(JAVA_LONG_UNALIGNED, offset + BAD, bad);
    into.set(JAVA_FLOAT_UNALIGNED, offset + VALUE, value);
    into.set(JAVA_INT_UNALIGNED, offset + BITS, bits);
    into.set(JAVA_INT_UNALIGNED, offset + SENDER, sender);
    into.set(JAVA_INT_UNALIGNED, offset + SENDER + Integer.BYTES, 0);
  }

  /// Returns the rank of the communicator that sent the header, or `otherwise` if the header is not
  /// valid.
  ///
  /// @param length remaining bytes
  int sender(MemorySegment from, long offset, long length, int otherwise) {
    int told = length < BYTES ? -1 : from.get(JAVA_INT_UNALIGNED, offset + SENDER);
    return told >= 0 && told < ranks.size() ? told : otherwise;
  }

  /// Returns the failure of a rank that was present when the exchange began and has joined since.
  CommException.Broken absent(int rank) {
    int culprit = ranks.get(rank);
    return new CommException.Broken(
        "rank %d has joined before its exchange of gradient '%s' was done; await the handles of all"
                .formatted(culprit, gradient.name())
            + " compressed gradients before join",
        culprit,
        null);
  }

  /// Returns the failure of a sum over ranks that is not finite; equal on all ranks.
  ///
  /// @param index index in the tensor
  CommException.Broken notFinite(long index, float sum, int rank) {
    int culprit = ranks.get(rank);
    return new CommException.Broken(
        bad(gradient.source().of(gradient.name(), index), culprit, "the mean of ", sum),
        culprit,
        null);
  }

  /// Compares the data of a rank with the expected shape and compression. Throws `Mismatch` if they
  /// differ.
  ///
  /// Hot path.
  ///
  /// @param length length of that rank's data, including this header
  /// @param expected expected length
  void requireSame(MemorySegment from, long offset, long length, long expected, int rank) {
    boolean headed = length >= BYTES;
    if (!headed
        || from.get(JAVA_LONG_UNALIGNED, offset) != gradient.elements()
        || from.get(JAVA_LONG_UNALIGNED, offset + SENT) != sent
        || from.get(JAVA_INT_UNALIGNED, offset + BITS) != bits
        || length != expected) {
      throw new CommException.Mismatch(
          "gradient '%s': rank %d sends %s, here it has %d elements, %d of them in %d bits each"
                  .formatted(
                      gradient.name(),
                      ranks.get(rank),
                      headed ? words(from, offset) : length + " bytes",
                      gradient.elements(),
                      sent,
                      bits)
              + "; give all ranks the same shape and compression");
    }
  }

  private static String words(MemorySegment from, long offset) {
    return "%d elements, %d of them in %d bits each"
        .formatted(
            from.get(JAVA_LONG_UNALIGNED, offset),
            from.get(JAVA_LONG_UNALIGNED, offset + SENT),
            from.get(JAVA_INT_UNALIGNED, offset + BITS));
  }

  /// Throws `Broken`, with that rank of the job as culprit, if the rank found an element that is
  /// not finite.
  ///
  /// Hot path.
  ///
  /// @param data the examined data in words, followed by the tensor
  void requireNumbers(MemorySegment from, long offset, int rank, String data) {
    long bad = from.get(JAVA_LONG_UNALIGNED, offset + BAD);
    if (bad >= 0) {
      int culprit = ranks.get(rank);
      float value = from.get(JAVA_FLOAT_UNALIGNED, offset + VALUE);
      throw new CommException.Broken(
          bad(gradient.source().of(gradient.name(), bad), culprit, data, value), culprit, null);
    }
  }

  /// Returns the failure in words.
  ///
  /// @param rank rank of the job
  /// @param data the examined data in words, followed by the tensor
  static String bad(Element element, int rank, String data, float value) {
    return "rank %d: %s%s has %s at index %d"
            .formatted(rank, data, element.tensor(), value, element.index())
        + UNDONE;
  }
}
