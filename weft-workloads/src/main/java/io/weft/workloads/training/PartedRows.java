// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.data.DataException;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.PartReader;
import io.weft.workloads.data.ReadProgress;
import java.util.List;
import java.util.Optional;

/// The rows of a data set's files that one of several ranks has read.
///
/// @param dataset as the report names it
/// @param train rows to train on, and those to test with if `test` is empty
/// @param test rows to test with, if they are in other files
/// @param first the number of this rank's first row in `train` over all ranks
/// @param trainCount examples in the whole training set
/// @param testCount examples in the whole test set
record PartedRows(
    String dataset,
    Examples train,
    Optional<Examples> test,
    int first,
    int trainCount,
    int testCount) {

  private static final int READ = 0;
  private static final int WHOLE = 1;
  private static final int MALFORMED = 2;
  private static final int MISSING = 3;

  /// Reads this rank's part; empty if the source has no parts. Collective. Throws `DataException`
  /// on all ranks if a rank cannot read.
  static Optional<PartedRows> read(DataSource source, TrainingJob job, RankExchange exchange) {
    Optional<PartReader> reader = Optional.empty();
    double[] facts = {WHOLE, 0, 0};
    Examples train = null;
    Optional<Examples> test = Optional.empty();
    DataException failed = null;
    try {
      reader = source.parts();
      if (reader.isPresent()) {
        train = reader.get().train(job.rank(), job.size(), ReadProgress.SILENT);
        test = reader.get().test(job.rank(), job.size(), ReadProgress.SILENT);
        facts = new double[] {READ, train.count(), test.map(Examples::count).orElse(0)};
      }
    } catch (DataException e) {
      failed = e;
      facts[0] = e instanceof DataException.Missing ? MISSING : MALFORMED;
    } catch (OutOfMemoryError noRoom) {
      failed = new DataException.TooLarge(source.name(), noRoom);
      facts[0] = MALFORMED;
    }
    List<double[]> all = exchange.patient().gather("data/parts", facts);
    if (failed != null) {
      throw failed;
    }
    requireRead(all);
    if (reader.isEmpty() || train == null) {
      return Optional.empty();
    }
    int rows = sum(all, 1, all.size());
    int held = reader.get().heldOut(rows);
    int tested = test.isPresent() ? sum(all, 2, all.size()) : held;
    int first = sum(all, 1, job.rank());
    return Optional.of(new PartedRows(source.name(), train, test, first, rows - held, tested));
  }

  private static void requireRead(List<double[]> all) {
    for (int rank = 0; rank < all.size(); rank++) {
      int status = (int) all.get(rank)[0];
      String message =
          "rank " + rank + " could not read its part of the data; its message says why";
      if (status == MISSING) {
        throw new DataException.Missing(message);
      }
      if (status == MALFORMED) {
        throw new DataException.Malformed(message);
      }
      if (status != (int) all.getFirst()[0]) {
        throw new TrainingException.Unfit(
            "rank 0 and rank %d have data in files of different kinds; give --data with the same"
                    .formatted(rank)
                + " files, compressed or not, on all hosts");
      }
    }
  }

  private static int sum(List<double[]> all, int column, int ranks) {
    double sum = all.subList(0, ranks).stream().mapToDouble(facts -> facts[column]).sum();
    if (sum > Integer.MAX_VALUE) {
      throw new TrainingException.Unfit("a data set of more than 2147483647 rows; give fewer");
    }
    return (int) sum;
  }

  /// Returns the rows to train on, for their last exchange.
  RowExchange.Rows trained() {
    return new RowExchange.Rows(train, i -> first + i < trainCount ? first + i : -1, true);
  }

  /// Returns the rows to test with that are in `train`.
  RowExchange.Rows tested() {
    return new RowExchange.Rows(train, i -> Math.max(-1, first + i - trainCount), false);
  }
}
