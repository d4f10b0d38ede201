// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.tensor.ReduceOp;
import io.weft.workloads.data.Examples;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/// An exchange of examples between ranks: each has some rows of a data set and receives the rows
/// that it needs. Rows travel in rounds of some MiB, and may take the places of the rows that have
/// been sent, so that little memory is used beside them. Confined to one thread.
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
  /// @param wanted numbers of the rows that this rank wants
  Examples move(Rows mine, IntUnaryOperator owner, int[] wanted) {
    int own = mine.examples().count();
    boolean inPlace = mine.takenOver() && own >= wanted.length;
    var arrived = new ArrivedRows(mine.examples(), inPlace, wanted.length);
    int each = Math.max(1, ROUND_BYTES / (HEAD + mine.examples().features()));
    double most = exchange.combine("rows/most", ReduceOp.MAX, own)[0];
    for (long first = 0; first < most; first += each) {
      int from = (int) Math.min(first, own);
      int to = (int) Math.min(first + each, own);
      arrived.add(round(mine, owner, from, to), inPlace ? to : wanted.length);
    }
    return arrived.inOrder(wanted);
  }

  /// The rows of a rank before an exchange.
  ///
  /// @param examples the rows
  /// @param number returns the number of a row in the data set; a negative number excludes the row
  /// @param takenOver the array of the rows may be overwritten
  record Rows(Examples examples, IntUnaryOperator number, boolean takenOver) {}

  /// Sends some rows to their owners. Returns the rows that this rank receives.
  private byte[] round(Rows rows, IntUnaryOperator owner, int from, int to) {
    Examples mine = rows.examples();
    int width = HEAD + mine.features();
    int[] numbers = IntStream.range(from, to).map(rows.number()).toArray();
    int[] owners = new int[to - from];
    long[] counts = new long[ranks];
    for (int i = from; i < to; i++) {
      int number = numbers[i - from];
      owners[i - from] = number < 0 ? -1 : owner.applyAsInt(number);
      if (number >= 0) {
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
        parcel.putInt(numbers[i - from]).put(mine.labels()[i]);
        parcel.put(mine.values(), i * mine.features(), mine.features());
        next[owners[i - from]] = parcel.position();
      }
    }
    List<Long> splits = new ArrayList<>();
    Arrays.stream(counts).forEach(splits::add);
    return exchange.scatter("rows", width, parcel.array(), splits);
  }
}
