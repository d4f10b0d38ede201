// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.batch.Columns;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.data.DataException;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// One rank's part of the data.
///
/// @param dataset as the report names it
/// @param train the examples of its columns, as `Columns.rows` orders them
/// @param test its part of the test set
/// @param columns of the whole training set
/// @param testCount examples in the whole test set
record DataShard(String dataset, Examples train, Examples test, Columns columns, int testCount) {

  /// Reads the data in the settings' read mode. Throws `DataException`, and
  /// `TrainingException.Unfit` if batch, ranks and data do not fit each other.
  static DataShard read(
      TrainingSettings settings, DataSource source, TrainingJob job, RankExchange exchange) {
    requireRanks(settings, job);
    if (settings.read() == ReadMode.SHARDED || exchange.alone()) {
      try {
        Optional<PartedRows> parts = PartedRows.read(source, job, exchange);
        return parts.isPresent()
            ? parted(settings, parts.get(), job, exchange)
            : local(settings, source, job);
      } catch (OutOfMemoryError noRoom) {
        throw new DataException.TooLarge(source.name(), noRoom);
      }
    }
    return fromRoot(settings, source, job, exchange);
  }

  /// Returns the size of the data set in words, equal on all ranks that read the same files.
  String extent() {
    return "%d examples of %d values to train on and %d to test with"
        .formatted(columns.examples(), train.features(), testCount);
  }

  /// Exchanges the rows that the ranks have read.
  private static DataShard parted(
      TrainingSettings settings, PartedRows read, TrainingJob job, RankExchange exchange) {
    Columns columns = columns(settings, read.trainCount());
    RankShards mine = shards(settings, columns, job.rank(), job.size());
    int[] byExample = columns.byExample();
    var rows = new RowExchange(exchange, job.size());
    int tested = read.testCount();
    Examples test =
        read.test().isPresent()
            ? read.test().get()
            : rows.move(
                read.tested(),
                number -> (int) (((number + 1L) * job.size() - 1) / tested),
                range(tested, job.rank(), job.size()));
    Examples train =
        rows.move(read.trained(), number -> mine.owner(byExample[number]), mine.rows());
    return new DataShard(read.dataset(), train, test, columns, tested);
  }

  private static int[] range(int count, int rank, int size) {
    return IntStream.range(first(count, rank, size), first(count, rank + 1, size)).toArray();
  }

  private static DataShard local(TrainingSettings settings, DataSource source, TrainingJob job) {
    Examples train = source.train();
    Columns columns = columns(settings, train.count());
    Examples mine = train.select(shards(settings, columns, job.rank(), job.size()).rows());
    Examples test = source.test();
    return new DataShard(
        source.name(), mine, part(test, job.rank(), job.size()), columns, test.count());
  }

  /// Reads on rank 0 and scatters [VIS16 §3.3.1]. If rank 0 cannot read, all other ranks stop too.
  private static DataShard fromRoot(
      TrainingSettings settings, DataSource source, TrainingJob job, RankExchange exchange) {
    if (job.rank() != 0) {
      long[] facts = exchange.patient().fromRoot("data", new long[5]);
      if (facts[0] < 0) {
        throw new DataException.Missing("rank 0 could not read the data; its message says why");
      }
      return receive(source.name(), settings, facts, Parcel.empty(job.size()), exchange);
    }
    Parcel parcel;
    try {
      parcel = Parcel.pack(settings, source, job.size());
    } catch (DataException | TrainingException e) {
      long[] ignored = exchange.patient().fromRoot("data", -1, 0, 0, 0, 0);
      throw e;
    } catch (OutOfMemoryError noRoom) {
      long[] ignored = exchange.patient().fromRoot("data", -1, 0, 0, 0, 0);
      throw new DataException.TooLarge(source.name(), noRoom);
    }
    long[] facts = exchange.patient().fromRoot("data", parcel.facts);
    return receive(source.name(), settings, facts, parcel, exchange);
  }

  private static DataShard receive(
      String dataset,
      TrainingSettings settings,
      long[] facts,
      Parcel parcel,
      RankExchange exchange) {
    Columns columns = columns(settings, (int) facts[0]);
    int features = (int) facts[2];
    float scale = Float.intBitsToFloat((int) facts[4]);
    byte[][] mine = new byte[4][];
    for (int i = 0; i < mine.length; i++) {
      int width = i % 2 == 0 ? features : 1;
      mine[i] = exchange.scatter("data/" + i, width, parcel.bytes[i], parcel.splits.get(i / 2));
    }
    int classes = (int) facts[3];
    return new DataShard(
        dataset,
        new Examples(features, classes, scale, mine[0], mine[1]),
        new Examples(features, classes, scale, mine[2], mine[3]),
        columns,
        (int) facts[1]);
  }

  /// The data that rank 0 sends: values and labels of the training rows of all ranks in order of
  /// rank, then of the test rows.
  private static final class Parcel {

    private final long[] facts;
    private final byte[][] bytes;
    private final List<List<Long>> splits;

    private Parcel(long[] facts, byte[][] bytes, List<List<Long>> splits) {
      this.facts = facts;
      this.bytes = bytes;
      this.splits = splits;
    }

    /// Returns the parcel of a rank other than 0, which sends no rows.
    static Parcel empty(int size) {
      List<Long> none = Collections.nCopies(size, 0L);
      return new Parcel(new long[0], new byte[4][0], List.of(none, none));
    }

    static Parcel pack(TrainingSettings settings, DataSource source, int size) {
      Examples train = source.train();
      Examples test = source.test();
      Columns columns = columns(settings, train.count());
      int[] all = new int[train.count()];
      int filled = 0;
      var trainSplits = new ArrayList<Long>();
      var testSplits = new ArrayList<Long>();
      for (int r = 0; r < size; r++) {
        int[] rows = shards(settings, columns, r, size).rows();
        System.arraycopy(rows, 0, all, filled, rows.length);
        filled += rows.length;
        trainSplits.add((long) rows.length);
        testSplits.add((long) first(test.count(), r + 1, size) - first(test.count(), r, size));
      }
      Examples ordered = train.select(all);
      long[] facts = {
        train.count(),
        test.count(),
        train.features(),
        train.classes(),
        Float.floatToRawIntBits(train.scale())
      };
      byte[][] bytes = {ordered.values(), ordered.labels(), test.values(), test.labels()};
      return new Parcel(facts, bytes, List.of(trainSplits, testSplits));
    }
  }

  private static Examples part(Examples all, int rank, int size) {
    return all.select(range(all.count(), rank, size));
  }

  private static int first(int count, int rank, int size) {
    return (int) ((long) rank * count / size);
  }

  /// Returns this part of the data with other columns, whose examples other ranks send. Collective.
  ///
  /// @param from the present columns
  /// @param to the next columns
  DataShard moved(RankShards from, RankShards to, RankExchange exchange) {
    int[] byExample = columns.byExample();
    int[] numbers = from.rows();
    var mine = new RowExchange.Rows(train, i -> numbers[i], false);
    Examples moved =
        new RowExchange(exchange, to.size())
            .move(mine, number -> to.owner(byExample[number]), to.rows());
    return new DataShard(dataset, moved, test, columns, testCount);
  }

  /// Returns the columns of a rank.
  static RankShards shards(TrainingSettings settings, Columns columns, int rank, int size) {
    int count = settings.exchange() instanceof GradientExchange.Shards fixed ? fixed.count() : size;
    return new RankShards(columns, count, rank, size);
  }

  private static Columns columns(TrainingSettings settings, int examples) {
    if (settings.batch() > examples) {
      throw new TrainingException.Unfit(
          "%s is more than the %d examples to train on; give at most that"
              .formatted(batch(settings), examples));
    }
    return new Columns(examples, settings.batch(), settings.seed());
  }

  private static void requireRanks(TrainingSettings settings, TrainingJob job) {
    if (settings.exchange() instanceof GradientExchange.Shards shards) {
      requireShards(settings, shards.count(), job.size());
    }
    if (settings.batch() < job.size() * settings.passes()) {
      throw new TrainingException.Unfit(
          "%s leaves some of %d ranks without an example in each batch; give at least %d"
              .formatted(batch(settings), job.size(), job.size()));
    }
  }

  private static String batch(TrainingSettings settings) {
    int passes = settings.passes();
    return "--batch "
        + settings.batch() / passes
        + (passes > 1 ? " times --accumulate " + passes : "");
  }

  private static void requireShards(TrainingSettings settings, int shards, int ranks) {
    if (shards % ranks != 0) {
      throw new TrainingException.Unfit(
          "%d shards cannot be divided among %d ranks; train on a number of ranks that divides"
                  .formatted(shards, ranks)
              + " them, or give --reproducible shards:N with another N");
    }
    if (settings.batch() < shards) {
      throw new TrainingException.Unfit(
          "--batch %d leaves some of %d shards without an example in each step; give at least %d"
              .formatted(settings.batch(), shards, shards));
    }
  }
}
