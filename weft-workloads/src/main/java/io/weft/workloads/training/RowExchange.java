// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.tensor.ReduceOp;
import io.weft.workloads.data.Examples;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/// An exchange of examples between ranks: each has some rows of a data set and receives the rows
/// that it needs. Rows travel in rounds of some MiB, so that beside the rows before and after
/// little memory is used. Confined to one thread.
final class RowExchange {

  private static final int ROUND_BYTES = 8 << 20;

  /// The number and the label that precede the features of a row in a message.
  private static final int HEAD = Integer.BYTES + 1;

  private final RankExchange exchange;
  private final int ranks;

  RowExchange(RankExchange exchange, int ranks) {
    this.exchange = exchange;
    this.ranks = ranks;
  }

  /// Returns the examples with the numbers in `wanted`, in this order. Collective; over all ranks,
  /// each wanted row must be on one rank.
  ///
  /// @param mine rows of this rank
  /// @param numbers of these rows in the data set; a negative number excludes a row
  /// @param owner returns the rank that wants a row of this number
  Examples move(Examples mine, int[] numbers, IntUnaryOperator owner, int[] wanted) {
    byte[] values = new byte[Math.multiplyExact(wanted.length, mine.features())];
    byte[] labels = new byte[wanted.length];
    long[] places = places(wanted);
    int width = HEAD + mine.features();
    int each = Math.max(1, ROUND_BYTES / width);
    double most = exchange.combine("rows/most", ReduceOp.MAX, numbers.length)[0];
    int placed = 0;
    for (long first = 0; first < most; first += each) {
      int from = (int) Math.min(first, numbers.length);
      int to = (int) Math.min(first + each, numbers.length);
      var parcel = ByteBuffer.wrap(round(mine, numbers, owner, from, to));
      while (parcel.hasRemaining()) {
        int at = place(places, parcel.getInt());
        labels[at] = parcel.get();
        parcel.get(values, at * mine.features(), mine.features());
        placed++;
      }
    }
    if (placed != wanted.length) {
      throw new IllegalStateException(placed + " of " + wanted.length + " rows have arrived");
    }
    return new Examples(mine.features(), mine.classes(), mine.scale(), values, labels);
  }

  /// Sends some rows to their owners. Returns the rows that this rank receives.
  private byte[] round(Examples mine, int[] numbers, IntUnaryOperator owner, int from, int to) {
    int width = HEAD + mine.features();
    int[] owners = new int[to - from];
    long[] counts = new long[ranks];
    for (int i = from; i < to; i++) {
      owners[i - from] = numbers[i] < 0 ? -1 : owner.applyAsInt(numbers[i]);
      if (numbers[i] >= 0) {
        counts[owners[i - from]]++;
      }
    }
    int[] next = new int[ranks];
    for (int rank = 1; rank < ranks; rank++) {
      next[rank] = next[rank - 1] + (int) counts[rank - 1] * width;
    }
    int all = (int) Arrays.stream(counts).sum();
    var parcel = ByteBuffer.allocate(all * width);
    for (int i = from; i < to; i++) {
      if (owners[i - from] >= 0) {
        parcel.position(next[owners[i - from]]);
        parcel.putInt(numbers[i]).put(mine.labels()[i]);
        parcel.put(mine.values(), i * mine.features(), mine.features());
        next[owners[i - from]] = parcel.position();
      }
    }
    List<Long> splits = new ArrayList<>();
    Arrays.stream(counts).forEach(splits::add);
    return exchange.scatter("rows", width, parcel.array(), splits);
  }

  /// Returns numbers with their positions, ascending.
  private static long[] places(int[] wanted) {
    long[] places = new long[wanted.length];
    Arrays.setAll(places, i -> (long) wanted[i] << Integer.SIZE | i);
    Arrays.sort(places);
    return places;
  }

  private static int place(long[] places, int number) {
    int at = -1 - Arrays.binarySearch(places, ((long) number << Integer.SIZE) - 1);
    if (at < 0 || at == places.length || (int) (places[at] >> Integer.SIZE) != number) {
      throw new IllegalStateException("row " + number + " came to a rank that does not want it");
    }
    return (int) places[at];
  }
}
