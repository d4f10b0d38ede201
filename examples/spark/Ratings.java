// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.spark.RankBody;
import io.weft.spark.SparkRank;
import io.weft.spark.WeftSpark;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/// Learns users' ratings of items from a DataFrame. Each user and each item has a row of numbers on
/// key-value servers; a rating is the mean of all ratings plus the product of both rows. The tasks
/// of one barrier stage are the servers and the workers: each executor stores half of the rows and
/// trains with its partition of the data. On two executors of this host:
///
/// ```
/// examples/spark/run Ratings
/// ```
///
/// The last line of the output is JSON: the number of executors, the rows on the servers, and the
/// root mean square error of ratings that were not trained, by their mean and by the rows.
/// Arguments: the numbers of ratings and of epochs.
public final class Ratings {

  private static final int RANKS = 2;
  private static final int WIDTH = 8;
  private static final int BATCH = 256;

  private Ratings() {}

  /// Runs the example.
  public static void main(String[] arguments) throws IOException {
    var given = new Arguments(arguments);
    int count = given.number(0, "ratings", 60_000, 1_000, 100_000_000);
    int epochs = given.number(1, "epochs", 12, 1, 100_000);
    SparkConf conf =
        WeftSpark.conf(new SparkConf())
            .setAppName("ratings")
            .setIfMissing("spark.master", "local-cluster[2,1,2048]")
            .set("spark.ui.enabled", "false");
    try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
      Dataset<Row> ratings = ratings(spark, count);
      double mean = ratings.where("not tested").selectExpr("avg(rating)").first().getDouble(0);
      List<Score> scores =
          WeftSpark.run(ratings.repartition(RANKS), new Training((float) mean, epochs));
      Score all = scores.stream().reduce(Score.NONE, Score::with);
      System.out.printf(
          Locale.ROOT,
          "{\"executors\":%d,\"rows\":%d,\"errorOfMean\":%.4f,\"error\":%.4f}%n",
          scores.stream().map(Score::executor).distinct().count(),
          all.rows,
          Math.sqrt(all.squaresOfMean / all.tested),
          Math.sqrt(all.squares / all.tested));
    }
  }

  /// Returns ratings by 500 users of 300 items, with arbitrary 64-bit numbers for both.
  private static Dataset<Row> ratings(SparkSession spark, int count) {
    return spark
        .range(count)
        .selectExpr("pmod(hash(id, 1), 500) as u", "pmod(hash(id, 2), 300) as i", "id")
        .selectExpr(
            "xxhash64('user', u) as user",
            "xxhash64('item', i) as item",
            "3 + sin(u) * cos(i) + sin(3 * u) * sin(2 * i) as rating",
            "id % 10 = 0 as tested");
  }

  /// The squared errors of a rank's ratings that were not trained.
  ///
  /// @param rows the rows on all servers
  private record Score(
      String executor, long rows, long tested, double squares, double squaresOfMean)
      implements Serializable {

    static final Score NONE = new Score("", 0, 0, 0, 0);

    Score with(Score other) {
      return new Score(
          executor,
          Math.max(rows, other.rows),
          tested + other.tested,
          squares + other.squares,
          squaresOfMean + other.squaresOfMean);
    }
  }

  /// A user's rating of an item.
  private record Rating(long user, long item, float value) {}

  /// The training on a rank, which is a server and a worker.
  private record Training(float mean, int epochs) implements RankBody<Row, Score> {

    @Override
    public Score run(SparkRank<Row> rank) throws Exception {
      List<Rating> trained = new ArrayList<>();
      List<Rating> tested = new ArrayList<>();
      while (rank.partition().hasNext()) {
        Row row = rank.partition().next();
        var rating = new Rating(row.getLong(0), row.getLong(1), (float) row.getDouble(2));
        (row.getBoolean(3) ? tested : trained).add(rating);
      }
      try (KvNode kv = KvNode.open(rank.weft(), KvOptions.everyRank())) {
        var rows = new Rows(table(kv.worker(), "users"), table(kv.worker(), "items"), mean);
        for (int epoch = 1; epoch <= epochs; epoch++) {
          rank.progress().epoch(epoch);
          Collections.shuffle(trained, new Random(epoch));
          for (int at = 0; at < trained.size(); at += BATCH) {
            List<Rating> batch = trained.subList(at, Math.min(at + BATCH, trained.size()));
            rank.progress().step(batch.size(), rows.train(batch) / batch.size());
          }
        }
        rank.weft().communicator().barrier(named("trained")).await();
        Score score = rows.test(tested, rank.place().executor());
        rank.weft().communicator().barrier(named("tested")).await(); // servers serve until here
        return score;
      }
    }

    private static KvTable table(KvWorker worker, String name) throws InterruptedException {
      return worker.register(
          TableSpec.rows(name, WIDTH)
              .withRule("adagrad:lr=0.1")
              .withInitial("uniform:low=-0.3,high=0.3", 7)
              .with(Consistency.asynchronous()));
    }
  }

  /// The rows of users and items on the servers.
  private record Rows(KvTable users, KvTable items, float mean) {

    /// Pulls the rows of a batch and pushes their gradients. Returns the sum of squared errors.
    double train(List<Rating> batch) throws InterruptedException {
      var step = new Step(batch, new float[batch.size() * WIDTH], new float[batch.size() * WIDTH]);
      pull(step);
      double squares = 0;
      for (int at = 0; at < batch.size(); at++) {
        float error = predicted(step, at) - batch.get(at).value;
        squares += error * error;
        for (int i = at * WIDTH; i < (at + 1) * WIDTH; i++) {
          float gradient = error * step.items[i];
          step.items[i] = error * step.users[i];
          step.users[i] = gradient;
        }
      }
      var ofUsers = users.push(step.userKeys(), step.users);
      items.push(step.itemKeys(), step.items).await();
      ofUsers.await();
      return squares;
    }

    Score test(List<Rating> tested, String executor) throws InterruptedException {
      var step =
          new Step(tested, new float[tested.size() * WIDTH], new float[tested.size() * WIDTH]);
      pull(step);
      double squares = 0;
      double squaresOfMean = 0;
      for (int at = 0; at < tested.size(); at++) {
        float value = tested.get(at).value;
        squares += Math.pow(predicted(step, at) - value, 2);
        squaresOfMean += Math.pow(mean - value, 2);
      }
      long rows = users.statistics().await().rows() + items.statistics().await().rows();
      return new Score(executor, rows, tested.size(), squares, squaresOfMean);
    }

    private void pull(Step step) throws InterruptedException {
      var ofUsers = users.pull(step.userKeys(), step.users);
      items.pull(step.itemKeys(), step.items).await();
      ofUsers.await();
    }

    private float predicted(Step step, int at) {
      float sum = mean;
      for (int i = at * WIDTH; i < (at + 1) * WIDTH; i++) {
        sum += step.users[i] * step.items[i];
      }
      return sum;
    }
  }

  /// A batch with the rows of its users and items, or their gradients.
  private record Step(List<Rating> batch, float[] users, float[] items) {

    long[] userKeys() {
      return batch.stream().mapToLong(Rating::user).toArray();
    }

    long[] itemKeys() {
      return batch.stream().mapToLong(Rating::item).toArray();
    }
  }
}
