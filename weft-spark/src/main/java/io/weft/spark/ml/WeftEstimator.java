// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.spark.WeftSpark;
import io.weft.spark.model.ModelFactory;
import io.weft.spark.model.TrainedModel;
import java.io.Serial;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.LongParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.ParamValidators;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/// Trains a network of TensorFlow or DJL on the executors: a stage of Spark's pipelines. The data
/// is divided into one partition for each rank. The ranks average their gradients in each step. The
/// driver computes nothing.
///
/// A step takes `batchSize` rows of each rank. Its gradient is that of the sum of the rows' losses,
/// each multiplied by the weight of its row, divided by the number of rows of full batches. Ranks
/// may have different numbers of rows, or none.
public final class WeftEstimator extends Estimator<WeftModel> implements MLWritable {

  static final String FEATURES = "column of features: vectors, arrays of numbers, or numbers";
  static final String PREDICTION = "name of the new column of predictions";

  @Serial private static final long serialVersionUID = 1L;

  private final String uid;
  private final NetworkParam network;
  private final Param<String> featuresCol;
  private final Param<String> labelCol;
  private final Param<String> weightCol;
  private final Param<String> predictionCol;
  private final IntParam classes;
  private final IntParam numWorkers;
  private final IntParam batchSize;
  private final IntParam epochs;
  private final LongParam seed;
  private final Param<String> checkpointDir;

  /// Creates an estimator of a graph of TensorFlow.
  public WeftEstimator(NetworkFactory network) {
    this((ModelFactory) network);
  }

  /// Creates an estimator of the models of this factory.
  public WeftEstimator(ModelFactory network) {
    this(Identifiable$.MODULE$.randomUID("weft"));
    setNetwork(network);
  }

  /// Creates an estimator without a network, as Spark does for copies.
  public WeftEstimator(String uid) {
    this.uid = Objects.requireNonNull(uid, "uid");
    network = new NetworkParam(this);
    featuresCol = text("featuresCol", FEATURES, "features");
    labelCol = text("labelCol", "column of labels: numbers", "label");
    weightCol = text("weightCol", "column of the rows' weights; empty: all are 1", "");
    predictionCol = text("predictionCol", PREDICTION, "prediction");
    checkpointDir =
        text(
            "checkpointDir",
            "directory that all executors reach, for a checkpoint after each epoch; empty: none",
            "");
    classes = number("classes", "number of classes 0, 1, ...; 0: labels are any numbers", 0, 0);
    numWorkers = number("numWorkers", "number of ranks; 0: one for each slot", 0, 0);
    batchSize = number("batchSize", "rows of each rank in a step", 1, 32);
    epochs = number("epochs", "how often the data is used", 1, 1);
    seed = new LongParam(uid, "seed", "seed of initial weights and of the order of rows");
    setDefault(seed, 1L);
  }

  private Param<String> text(String name, String doc, String otherwise) {
    Param<String> param = new Param<>(uid, name, doc);
    setDefault(param, otherwise);
    return param;
  }

  private IntParam number(String name, String doc, int least, int otherwise) {
    var param = new IntParam(uid, name, doc, ParamValidators.gtEq(least));
    setDefault(param, otherwise);
    return param;
  }

  @Override
  public String uid() {
    return uid;
  }

  /// Returns the parameter that makes the model.
  public Param<ModelFactory> network() {
    return network;
  }

  /// Sets `network` to a graph of TensorFlow.
  public WeftEstimator setNetwork(NetworkFactory value) {
    return setNetwork((ModelFactory) value);
  }

  /// Sets `network`.
  public WeftEstimator setNetwork(ModelFactory value) {
    set(network, Objects.requireNonNull(value, "value"));
    return this;
  }

  /// Returns the parameter that names the column of features.
  public Param<String> featuresCol() {
    return featuresCol;
  }

  /// Sets `featuresCol`.
  public WeftEstimator setFeaturesCol(String value) {
    set(featuresCol, Objects.requireNonNull(value, "value"));
    return this;
  }

  /// Returns the parameter that names the column of labels.
  public Param<String> labelCol() {
    return labelCol;
  }

  /// Sets `labelCol`.
  public WeftEstimator setLabelCol(String value) {
    set(labelCol, Objects.requireNonNull(value, "value"));
    return this;
  }

  /// Returns the parameter that names the column of weights, or is empty.
  public Param<String> weightCol() {
    return weightCol;
  }

  /// Sets `weightCol`.
  public WeftEstimator setWeightCol(String value) {
    set(weightCol, Objects.requireNonNull(value, "value"));
    return this;
  }

  /// Returns the parameter that names the new column of predictions.
  public Param<String> predictionCol() {
    return predictionCol;
  }

  /// Sets `predictionCol`.
  public WeftEstimator setPredictionCol(String value) {
    set(predictionCol, Objects.requireNonNull(value, "value"));
    return this;
  }

  /// Returns the parameter that is the number of classes, or 0 if labels are any numbers.
  public IntParam classes() {
    return classes;
  }

  /// Sets `classes`.
  public WeftEstimator setClasses(int value) {
    set(classes, value);
    return this;
  }

  /// Returns the parameter that is the number of ranks, or 0 for one for each slot of the
  /// application.
  public IntParam numWorkers() {
    return numWorkers;
  }

  /// Sets `numWorkers`.
  public WeftEstimator setNumWorkers(int value) {
    set(numWorkers, value);
    return this;
  }

  /// Returns the parameter that is the number of rows of each rank in a step.
  public IntParam batchSize() {
    return batchSize;
  }

  /// Sets `batchSize`.
  public WeftEstimator setBatchSize(int value) {
    set(batchSize, value);
    return this;
  }

  /// Returns the parameter that says how often the data is used.
  public IntParam epochs() {
    return epochs;
  }

  /// Sets `epochs`.
  public WeftEstimator setEpochs(int value) {
    set(epochs, value);
    return this;
  }

  /// Returns the parameter that is the seed of initial weights and of the order of rows.
  public LongParam seed() {
    return seed;
  }

  /// Sets `seed`.
  public WeftEstimator setSeed(long value) {
    set(seed, value);
    return this;
  }

  /// Returns the parameter that names a directory for checkpoints, or is empty.
  public Param<String> checkpointDir() {
    return checkpointDir;
  }

  /// Sets `checkpointDir`.
  public WeftEstimator setCheckpointDir(String value) {
    set(checkpointDir, Objects.requireNonNull(value, "value"));
    return this;
  }

  /// Trains the network on the executors and returns the model. Blocks until the training has
  /// ended. Throws `IllegalArgumentException` for columns that are missing or have a wrong type,
  /// `CommException.Setup` if the application cannot run all ranks at once, and
  /// `RankFailedException` for rows that a network cannot learn from, or if the factory throws.
  @Override
  public WeftModel fit(Dataset<?> data) {
    StructType unused = transformSchema(data.schema());
    if (!isDefined(network)) {
      throw new IllegalArgumentException(
          "the estimator has no network; set one by setNetwork, or give it to the constructor");
    }
    int ranks = number(numWorkers);
    if (ranks == 0) {
      ranks = WeftSpark.slots(data.sparkSession().sparkContext());
    }
    Dataset<Row> rows = rows(data);
    JavaRDD<Row> given = rows.toJavaRDD();
    if (given.getNumPartitions() != ranks || !WeftSpark.canRun(given)) {
      rows = rows.repartition(ranks);
    }
    List<TrainedRank> reports = WeftSpark.run(rows, new EpochTraining(spec()));
    return copyValues(model(reports), ParamMap.empty()).setParent(this);
  }

  private Dataset<Row> rows(Dataset<?> data) {
    Column features = data.col(getOrDefault(featuresCol));
    Column labels = data.col(getOrDefault(labelCol)).cast(DataTypes.DoubleType);
    return isWeighted()
        ? data.select(
            features, labels, data.col(getOrDefault(weightCol)).cast(DataTypes.DoubleType))
        : data.select(features, labels);
  }

  private TrainingSpec spec() {
    String directory = getOrDefault(checkpointDir);
    return new TrainingSpec(
        getOrDefault(network),
        new RowReader(getOrDefault(featuresCol), number(classes)),
        number(classes),
        isWeighted(),
        number(batchSize),
        number(epochs),
        (Long) getOrDefault(seed),
        directory.isEmpty() ? "" : directory + "/" + uid + "-" + UUID.randomUUID());
  }

  private int number(IntParam param) {
    return (Integer) getOrDefault(param);
  }

  private boolean isWeighted() {
    return !getOrDefault(weightCol).isEmpty();
  }

  private WeftModel model(List<TrainedRank> reports) {
    TrainedModel trained = reports.getFirst().network();
    if (trained == null) {
      throw new IllegalStateException("rank 0 returned no network");
    }
    return new WeftModel(
        uid,
        trained,
        new TrainingSummary(
            reports.stream().map(TrainedRank::executor).toList(),
            reports.stream().map(TrainedRank::rows).toList(),
            reports.getFirst().losses(),
            reports.stream().map(TrainedRank::stepMillis).toList(),
            reports.stream().map(TrainedRank::digest).toList()));
  }

  @Override
  public StructType transformSchema(StructType schema) {
    RowReader.requireFeatures(schema, getOrDefault(featuresCol));
    RowReader.requireNumbers(schema, getOrDefault(labelCol), "labelCol");
    if (isWeighted()) {
      RowReader.requireNumbers(schema, getOrDefault(weightCol), "weightCol");
    }
    String prediction = getOrDefault(predictionCol);
    requireAbsent(schema, prediction);
    return schema.add(prediction, DataTypes.DoubleType, false);
  }

  /// Throws `IllegalArgumentException` if the data has a column of this name.
  static void requireAbsent(StructType schema, String prediction) {
    if (List.of(schema.fieldNames()).contains(prediction)) {
      throw new IllegalArgumentException(
          "the data has a column '"
              + prediction
              + "' already; name another one by predictionCol, or drop the column");
    }
  }

  @Override
  public WeftEstimator copy(ParamMap extra) {
    return copyValues(new WeftEstimator(uid), extra);
  }

  @Override
  public MLWriter write() {
    return new DefaultParamsWriter(this);
  }

  /// Returns a reader of saved estimators, as Spark's pipelines expect it.
  public static MLReader<WeftEstimator> read() {
    return new DefaultParamsReader<>();
  }

  /// Reads a saved estimator.
  public static WeftEstimator load(String path) {
    return read().load(path);
  }
}
