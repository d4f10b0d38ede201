// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import io.weft.spark.WeftSpark;
import io.weft.spark.ml.DenseNetwork;
import io.weft.spark.ml.TrainingSummary;
import io.weft.spark.ml.WeftEstimator;
import io.weft.spark.ml.WeftModel;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.digits.SyntheticDigits;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator;
import org.apache.spark.ml.feature.MaxAbsScaler;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/// Trains a network for drawn digits as a stage of a Spark pipeline, on two executors of this host:
///
/// ```
/// examples/spark/run
/// ```
///
/// The last line of the output is JSON: the number of executors that trained, the median step of
/// rank 0, the accuracy on test data, whether all ranks ended with the same weights, and whether a
/// saved and loaded pipeline predicts equally. Arguments: the numbers of training and test digits,
/// and of epochs.
public final class MnistPipeline {

  private static final int RANKS = 2;
  private static final int PARTITIONS = 8;

  private MnistPipeline() {}

  /// Runs the example.
  public static void main(String[] arguments) throws IOException {
    var given = new Arguments(arguments);
    int trained = given.number(0, "training digits", 8_000, 128, 1_000_000);
    int tested = given.number(1, "test digits", 2_000, 1, 1_000_000);
    int epochs = given.number(2, "epochs", 6, 1, 100_000);
    SparkConf conf =
        WeftSpark.conf(new SparkConf()) // adds the executors' Java flags
            .setAppName("mnist")
            .setIfMissing("spark.master", "local-cluster[2,1,2048]")
            .set("spark.ui.enabled", "false")
            .set("spark.sql.shuffle.partitions", "4");
    try (SparkSession spark = SparkSession.builder().config(conf).getOrCreate()) {
      var digits = new SyntheticDigits(1, trained, tested);
      Dataset<Row> training = rows(spark, digits.train(ReadProgress.SILENT));
      Dataset<Row> test = rows(spark, digits.test(ReadProgress.SILENT));

      var scaler = new MaxAbsScaler().setInputCol("pixels").setOutputCol("features");
      var network =
          new WeftEstimator(new DenseNetwork(0.001f, 200, 100))
              .setClasses(10)
              .setNumWorkers(RANKS)
              .setBatchSize(64)
              .setEpochs(epochs);
      PipelineModel fitted =
          new Pipeline().setStages(new PipelineStage[] {scaler, network}).fit(training);

      Dataset<Row> predicted = fitted.transform(test).cache();
      double accuracy =
          new MulticlassClassificationEvaluator().setMetricName("accuracy").evaluate(predicted);
      TrainingSummary course = ((WeftModel) fitted.stages()[1]).summary().orElseThrow();
      System.out.printf(
          Locale.ROOT,
          "{\"executors\":%d,\"stepMillis\":%.2f,\"accuracy\":%.4f,\"equalWeights\":%b,\"reloadedPredictionsEqual\":%b}%n",
          new HashSet<>(course.executors()).size(),
          course.stepMillis().getFirst(),
          accuracy,
          course.equalWeights(),
          predictions(predicted).equals(predictions(reloaded(fitted).transform(test))));
    }
  }

  /// A drawn digit.
  private record Digit(byte[] pixels, double label) implements Serializable {}

  private static Dataset<Row> rows(SparkSession spark, Examples examples) {
    List<Digit> digits = new ArrayList<>();
    int width = examples.features();
    for (int i = 0; i < examples.count(); i++) {
      byte[] pixels = Arrays.copyOfRange(examples.values(), i * width, (i + 1) * width);
      digits.add(new Digit(pixels, examples.labels()[i]));
    }
    JavaRDD<Row> rows =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(digits, PARTITIONS)
            .map(MnistPipeline::row);
    StructType schema =
        new StructType()
            .add("pixels", SQLDataTypes.VectorType())
            .add("label", DataTypes.DoubleType);
    return spark.createDataFrame(rows, schema);
  }

  private static Row row(Digit digit) {
    double[] pixels = new double[digit.pixels().length];
    for (int i = 0; i < pixels.length; i++) {
      pixels[i] = Byte.toUnsignedInt(digit.pixels()[i]);
    }
    return RowFactory.create(Vectors.dense(pixels), digit.label());
  }

  private static PipelineModel reloaded(PipelineModel fitted) throws IOException {
    String directory = Files.createTempDirectory("weft-mnist").toUri().toString();
    fitted.write().overwrite().save(directory);
    PipelineModel loaded = PipelineModel.load(directory);
    Path saved = new Path(directory);
    saved.getFileSystem(new Configuration()).delete(saved, true);
    return loaded;
  }

  private static List<Double> predictions(Dataset<Row> predicted) {
    return predicted.select("prediction").as(Encoders.DOUBLE()).collectAsList();
  }
}
