// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.spark.LocalSpark;
import io.weft.spark.RankFailedException;
import java.io.IOException;
import java.io.Serial;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.evaluation.MulticlassClassificationEvaluator;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.tuning.CrossValidator;
import org.apache.spark.ml.tuning.CrossValidatorModel;
import org.apache.spark.ml.tuning.ParamGridBuilder;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.Graph;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.op.Ops;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WeftEstimatorTest {

  private static final StructType POINTS =
      new StructType()
          .add("x", DataTypes.DoubleType)
          .add("y", DataTypes.DoubleType)
          .add("label", DataTypes.IntegerType);

  private SparkSession spark;

  @TempDir private Path directory;

  @BeforeAll
  void start() {
    spark = LocalSpark.start(3);
  }

  @AfterAll
  void stop() {
    spark.stop();
  }

  /// Returns points of a square, with label 1 inside a circle.
  private Dataset<Row> points(int count, int partitions) {
    Random random = new Random(7);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double x = 2 * random.nextDouble() - 1;
      double y = 2 * random.nextDouble() - 1;
      rows.add(RowFactory.create(x, y, x * x + y * y < 0.5 ? 1 : 0));
    }
    return spark.createDataFrame(
        JavaSparkContext.fromSparkContext(spark.sparkContext()).parallelize(rows, partitions),
        POINTS);
  }

  private static VectorAssembler assembler() {
    return new VectorAssembler().setInputCols(new String[] {"x", "y"}).setOutputCol("features");
  }

  private static WeftEstimator circle() {
    return new WeftEstimator(new DenseNetwork(0.02f, 16))
        .setClasses(2)
        .setNumWorkers(2)
        .setBatchSize(16)
        .setEpochs(12);
  }

  private static List<Double> predictions(Dataset<Row> data) {
    return data.select("prediction").as(Encoders.DOUBLE()).collectAsList();
  }

  private static double accuracy(Dataset<Row> predicted) {
    return new MulticlassClassificationEvaluator().setMetricName("accuracy").evaluate(predicted);
  }

  @Test
  void pipelineLearnsAndPredictsTheSameAfterSaveAndLoad() throws Exception {
    Dataset<Row> data = points(600, 2);
    Pipeline pipeline = new Pipeline().setStages(new PipelineStage[] {assembler(), circle()});
    String unfitted = directory.resolve("unfitted").toUri().toString();
    pipeline.save(unfitted);
    PipelineModel fitted = Pipeline.load(unfitted).fit(data);
    Dataset<Row> predicted = fitted.transform(data);
    assertThat(accuracy(predicted)).isGreaterThan(0.95);
    TrainingSummary course = ((WeftModel) fitted.stages()[1]).summary().orElseThrow();
    assertThat(course.equalWeights()).isTrue();
    assertThat(course.digests()).hasSize(2);
    assertThat(course.losses()).hasSize(12);
    assertThat(course.stepMillis()).hasSize(2).allMatch(median -> median > 0 && median < 60_000);
    assertThat(course.losses().getLast()).isLessThan(course.losses().getFirst() / 2);

    String saved = directory.resolve("fitted").toUri().toString();
    fitted.save(saved);
    assertThat(Files.exists(directory.resolve("fitted/stages"))).isTrue();
    assertThat(predictions(PipelineModel.load(saved).transform(data)))
        .isEqualTo(predictions(predicted));
  }

  @Test
  void unevenAndEmptyPartitionsTrainToTheEnd() {
    Dataset<Row> data = assembler().transform(points(110, 1));
    var uneven =
        spark.createDataFrame(
            data.toJavaRDD()
                .zipWithIndex()
                .mapToPair(row -> new scala.Tuple2<>(row._2() < 70 ? 0 : 1, row._1()))
                .partitionBy(new org.apache.spark.HashPartitioner(3))
                .values(),
            data.schema());
    TrainingSummary course =
        circle().setNumWorkers(3).setBatchSize(10).setEpochs(2).fit(uneven).summary().orElseThrow();
    assertThat(course.rows()).containsExactly(70L, 40L, 0L);
    assertThat(course.equalWeights()).isTrue();
    assertThat(course.losses()).hasSize(2).allMatch(loss -> loss > 0 && loss < 1);
  }

  @Test
  void coalescedDataAndTwoFitsAtOnceTrain() throws Exception {
    Dataset<Row> data = assembler().transform(points(40, 3)).coalesce(1);
    CompletableFuture<WeftModel> other =
        CompletableFuture.supplyAsync(() -> circle().setNumWorkers(1).setEpochs(2).fit(data));
    WeftModel one = circle().setNumWorkers(1).setEpochs(2).fit(data);
    assertThat(one.summary().orElseThrow().digests())
        .isEqualTo(other.get(60, TimeUnit.SECONDS).summary().orElseThrow().digests());
  }

  @Test
  void sameSeedGivesTheSameWeights() {
    Dataset<Row> data = assembler().transform(points(64, 2));
    WeftEstimator estimator = circle().setEpochs(2);
    List<String> first = estimator.fit(data).summary().orElseThrow().digests();
    assertThat(estimator.fit(data).summary().orElseThrow().digests()).isEqualTo(first);
    assertThat(estimator.setSeed(2).fit(data).summary().orElseThrow().digests())
        .isNotEqualTo(first);
  }

  @Test
  void rowsOfWeightZeroTeachNothing() {
    StructType schema =
        new StructType()
            .add("features", DataTypes.createArrayType(DataTypes.FloatType))
            .add("label", DataTypes.DoubleType)
            .add("importance", DataTypes.FloatType);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      float x = i / 40f;
      rows.add(RowFactory.create(List.of(x), 2.0 * x, 1f));
      rows.add(RowFactory.create(List.of(x), 100.0, 0f));
    }
    Dataset<Row> data = spark.createDataFrame(rows, schema);
    WeftModel model =
        new WeftEstimator(new DenseNetwork(0.1f))
            .setWeightCol("importance")
            .setNumWorkers(2)
            .setBatchSize(8)
            .setEpochs(20)
            .fit(data);
    assertThat(predictions(model.transform(data)).get(20)).isCloseTo(0.5, within(0.05));
  }

  @Test
  void eightFitsInOneApplicationLeaveNoThreadSocketOrSharedMemory() throws Exception {
    Dataset<Row> data = assembler().transform(points(60, 2));
    WeftEstimator estimator = circle().setEpochs(1);
    assertThat(estimator.fit(data).summary()).isPresent();
    int threads = threads();
    long sockets = descriptors("socket:");
    CrossValidatorModel best =
        new CrossValidator()
            .setEstimator(estimator)
            .setEvaluator(new MulticlassClassificationEvaluator())
            .setEstimatorParamMaps(
                new ParamGridBuilder().addGrid(estimator.epochs(), new int[] {1, 2}).build())
            .setNumFolds(3)
            .fit(data);
    assertThat(best.avgMetrics()).hasSize(2);
    assertThat(((WeftModel) best.bestModel()).summary()).isPresent();
    assertThat(threads()).isLessThanOrEqualTo(threads);
    assertThat(descriptors("socket:")).as("open sockets").isLessThanOrEqualTo(sockets);
    assertThat(descriptors("/dev/shm/")).as("open files of shared memory").isZero();
    assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain("/dev/shm/");
  }

  /// Returns the number of open files of this JVM whose names begin so.
  private static long descriptors(String prefix) throws IOException {
    long count = 0;
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : open) {
        if (Files.isSymbolicLink(each)
            && Files.readSymbolicLink(each).toString().startsWith(prefix)) {
          count++;
        }
      }
    }
    return count;
  }

  /// Returns the number of Weft's threads in this JVM.
  private static int threads() {
    return (int)
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("weft"))
            .count();
  }

  @Test
  void columnsThatAreMissingOrHaveAWrongTypeAreRefusedBeforeAJobStarts() {
    Dataset<Row> data = points(4, 2);
    assertThatThrownBy(() -> circle().fit(data))
        .hasMessageContaining("featuresCol names column 'features'")
        .hasMessageContaining("x, y, label");
    assertThatThrownBy(
            () -> circle().setFeaturesCol("x").setLabelCol("s").fit(data.selectExpr("*", "'a' s")))
        .hasMessageContaining("column 's' of labelCol has type string; it must have numbers");
    assertThatThrownBy(() -> circle().setFeaturesCol("s").fit(data.selectExpr("*", "'a' s")))
        .hasMessageContaining("column 's' of features has type string");
    assertThatThrownBy(() -> circle().setFeaturesCol("x").setPredictionCol("y").fit(data))
        .hasMessageContaining("the data has a column 'y' already");
    assertThatThrownBy(() -> new WeftEstimator("bare").setFeaturesCol("x").fit(data))
        .hasMessageContaining("the estimator has no network");
  }

  @Test
  void rowsThatTeachNothingAreNamed() {
    Dataset<Row> data = points(20, 2);
    refused(data.selectExpr("x as features", "5 as label"), "none of the 2 classes 0 to 1");
    refused(
        data.selectExpr("if(y > 0, double('NaN'), x) as features", "label"),
        "column 'features' has NaN as feature 0");
    refused(
        data.selectExpr("if(y > 0, null, array(x, y)) as features", "label"),
        "column 'features' is null in a row");
    refused(
        data.selectExpr("x as features", "cast(null as int) as label"), "label of a row is null");
    refused(data.selectExpr("x as features", "label").where("label > 1"), "the data has no rows");
    refused(
        data.selectExpr("if(y > 0, array(x), array(x, y)) as features", "label"), "equally many");
  }

  private static void refused(Dataset<Row> data, String message) {
    assertThatThrownBy(() -> circle().fit(data))
        .isInstanceOf(RankFailedException.class)
        .hasMessageContaining(message);
  }

  /// A network without variables.
  private static final class Bare implements NetworkFactory {

    @Serial private static final long serialVersionUID = 1L;

    @Override
    public Network build(Graph graph, NetworkInput input) {
      Ops tf = Ops.create(graph);
      return new Network(
          tf.math.square(input.labels()), input.features(), new GradientDescent(graph));
    }
  }

  @Test
  void factoryThatFailsIsNamed() {
    Dataset<Row> data = assembler().transform(points(8, 2));
    assertThatThrownBy(() -> new WeftEstimator(new Bare()).setNumWorkers(2).fit(data))
        .isInstanceOf(RankFailedException.class)
        .hasMessageContaining("has no variable");
    assertThatThrownBy(
            () ->
                new WeftEstimator(
                        (graph, input) -> {
                          if (TaskContext.getPartitionId() == 1) {
                            throw new IllegalStateException("no such layer");
                          }
                          return new DenseNetwork(0.1f).build(graph, input);
                        })
                    .setNumWorkers(2)
                    .fit(data))
        .isInstanceOf(RankFailedException.class)
        .hasMessageContaining("rank 1 on executor driver")
        .hasMessageContaining("no such layer");
    assertThatThrownBy(() -> new WeftEstimator(new Bare()).save(directory + "/bare"))
        .hasStackTraceContaining("Bare cannot be saved");
  }

  @Test
  void copyWithParametersKeepsTheNetwork() {
    WeftEstimator estimator = circle();
    WeftEstimator copy = estimator.copy(new ParamMap().put(estimator.epochs(), 5));
    assertThat(copy.explainParams()).contains("epochs", "current: 5", "DenseNetwork[0.02,16]");
    assertThat(copy.uid()).isEqualTo(estimator.uid());
  }
}
