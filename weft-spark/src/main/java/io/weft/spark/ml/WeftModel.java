// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.spark.model.TrainedModel;
import java.io.IOException;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import scala.Option;

/// A trained network as a transformer, which adds a column of predictions. The executors compute
/// them without ranks, each with one copy of the network. The saved form of a graph contains a
/// SavedModel that any TensorFlow loads, in the directory `model`. That of another model contains
/// class and settings of its factory, which must be saveable, as for saved estimators.
public final class WeftModel extends Model<WeftModel> implements MLWritable {

  @Serial private static final long serialVersionUID = 1L;
  private static final String DIRECTORY = "model";

  /// The file with class and settings of the factory, if the model cannot be loaded without it.
  private static final String FACTORY = "factory";

  private final String uid;
  private final TrainedModel network;
  private final @Nullable TrainingSummary summary;
  private final Param<String> featuresCol;
  private final Param<String> predictionCol;

  /// @param summary the course of the training, or null for a loaded model
  WeftModel(String uid, TrainedModel network, @Nullable TrainingSummary summary) {
    this.uid = uid;
    this.network = network;
    this.summary = summary;
    this.featuresCol = new Param<>(this, "featuresCol", WeftEstimator.FEATURES);
    this.predictionCol = new Param<>(this, "predictionCol", WeftEstimator.PREDICTION);
    setDefault(featuresCol, "features");
    setDefault(predictionCol, "prediction");
  }

  @Override
  public String uid() {
    return uid;
  }

  /// Returns the parameter that names the column of features.
  public Param<String> featuresCol() {
    return featuresCol;
  }

  /// Returns the parameter that names the new column of predictions.
  public Param<String> predictionCol() {
    return predictionCol;
  }

  /// Sets `featuresCol`.
  public WeftModel setFeaturesCol(String column) {
    set(featuresCol, Objects.requireNonNull(column, "column"));
    return this;
  }

  /// Sets `predictionCol`.
  public WeftModel setPredictionCol(String column) {
    set(predictionCol, Objects.requireNonNull(column, "column"));
    return this;
  }

  /// Returns the course of the training; empty for a loaded model.
  public Optional<TrainingSummary> summary() {
    return Optional.ofNullable(summary);
  }

  /// Adds the predictions, as numbers of type double: the greatest class, or the value of a network
  /// with one output. An action on the result throws if features are null or not finite, or have
  /// another number than in the training.
  @Override
  public Dataset<Row> transform(Dataset<?> data) {
    StructType schema = transformSchema(data.schema());
    String features = getOrDefault(featuresCol);
    int column = data.schema().fieldIndex(features);
    RowReader reader = new RowReader(features, 0);
    Broadcast<Predictor> predictor =
        JavaSparkContext.fromSparkContext(data.sparkSession().sparkContext())
            .broadcast(new Predictor(network));
    MapPartitionsFunction<Row, Row> predict =
        rows -> new PredictedRows(rows, predictor.value(), reader, column);
    return data.toDF().mapPartitions(predict, Encoders.row(schema));
  }

  @Override
  public StructType transformSchema(StructType schema) {
    RowReader.requireFeatures(schema, getOrDefault(featuresCol));
    String prediction = getOrDefault(predictionCol);
    WeftEstimator.requireAbsent(schema, prediction);
    return schema.add(prediction, DataTypes.DoubleType, false);
  }

  @Override
  public WeftModel copy(ParamMap extra) {
    WeftModel copied = copyValues(new WeftModel(uid, network, summary), extra);
    return hasParent() ? copied.setParent(parent()) : copied;
  }

  @Override
  public MLWriter write() {
    return new Writer(this);
  }

  /// Returns a reader of saved models, as Spark's pipelines expect it.
  public static MLReader<WeftModel> read() {
    return new Reader();
  }

  /// Reads a saved model.
  public static WeftModel load(String path) {
    return read().load(path);
  }

  @Override
  public String toString() {
    return "WeftModel[" + uid + ", " + network + "]";
  }

  private static final class Writer extends MLWriter {

    private final WeftModel model;

    Writer(WeftModel model) {
      this.model = model;
    }

    @Override
    public void saveImpl(String path) {
      Map<String, byte[]> contents = new TreeMap<>(model.network.files());
      Optional<String> factory = model.network.factory().map(NetworkParam::text);
      factory.ifPresent(text -> contents.put(FACTORY, text.getBytes(StandardCharsets.UTF_8)));
      DefaultParamsWriter.saveMetadata(model, path, sparkSession());
      try {
        Path root = new Path(path, DIRECTORY);
        FileSystem files = root.getFileSystem(sc().hadoopConfiguration());
        for (Map.Entry<String, byte[]> file : contents.entrySet()) {
          try (FSDataOutputStream out = files.create(new Path(root, file.getKey()))) {
            out.write(file.getValue());
          }
        }
      } catch (IOException unwritable) {
        throw new java.io.UncheckedIOException("cannot save to " + path, unwritable);
      }
    }
  }

  private static final class Reader extends MLReader<WeftModel> {

    @Override
    public WeftModel load(String path) {
      var metadata =
          DefaultParamsReader.loadMetadata(path, sparkSession(), WeftModel.class.getName());
      try {
        Path root = new Path(path, DIRECTORY);
        FileSystem files = root.getFileSystem(sc().hadoopConfiguration());
        Map<String, byte[]> contents = new TreeMap<>();
        String above = files.makeQualified(root).toUri().getPath() + "/";
        RemoteIterator<LocatedFileStatus> found = files.listFiles(root, true);
        while (found.hasNext()) {
          Path file = found.next().getPath();
          try (FSDataInputStream in = files.open(file)) {
            contents.put(file.toUri().getPath().substring(above.length()), in.readAllBytes());
          }
        }
        var model = new WeftModel(metadata.uid(), trained(contents), null);
        metadata.getAndSetParams(model, Option.empty());
        return model;
      } catch (IOException unreadable) {
        throw new java.io.UncheckedIOException("no model can be read from " + path, unreadable);
      }
    }

    private static TrainedModel trained(Map<String, byte[]> contents) {
      byte[] factory = contents.remove(FACTORY);
      return factory == null
          ? new SavedNetwork(contents)
          : NetworkParam.factory(new String(factory, StandardCharsets.UTF_8)).trained(contents);
    }
  }
}
