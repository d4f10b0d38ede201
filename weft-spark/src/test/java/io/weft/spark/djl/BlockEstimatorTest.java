// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.spark.LocalSpark;
import io.weft.spark.RankFailedException;
import io.weft.spark.ml.TrainingSummary;
import io.weft.spark.ml.WeftEstimator;
import io.weft.spark.ml.WeftModel;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.feature.VectorAssembler;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BlockEstimatorTest {

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
  private Dataset<Row> points(int count) {
    return spark
        .range(count)
        .selectExpr("2 * rand(1) - 1 as x", "2 * rand(2) - 1 as y")
        .selectExpr("x", "y", "if(x * x + y * y < 0.5, 1, 0) as label")
        .cache();
  }

  private static WeftEstimator circle() {
    return new WeftEstimator(new TwoLayers("16"))
        .setClasses(2)
        .setNumWorkers(2)
        .setBatchSize(16)
        .setEpochs(30);
  }

  private static List<Double> predictions(Dataset<Row> data) {
    return data.select("prediction").as(Encoders.DOUBLE()).collectAsList();
  }

  @Test
  void pipelineOfABlockPredictsTheSameAfterSaveAndLoad() throws Exception {
    Dataset<Row> data = points(600);
    var assembler =
        new VectorAssembler().setInputCols(new String[] {"x", "y"}).setOutputCol("features");
    Pipeline pipeline = new Pipeline().setStages(new PipelineStage[] {assembler, circle()});
    String unfitted = directory.resolve("unfitted").toUri().toString();
    pipeline.save(unfitted);
    PipelineModel fitted = Pipeline.load(unfitted).fit(data);
    Dataset<Row> predicted = fitted.transform(data);
    assertThat(predicted.where("prediction = label").count()).isGreaterThan(560);
    TrainingSummary course = ((WeftModel) fitted.stages()[1]).summary().orElseThrow();
    assertThat(course.equalWeights()).isTrue();
    assertThat(course.losses().getLast()).isLessThan(course.losses().getFirst() / 2);

    String saved = directory.resolve("fitted").toUri().toString();
    fitted.save(saved);
    assertThat(predictions(PipelineModel.load(saved).transform(data)))
        .isEqualTo(predictions(predicted));
  }

  @Test
  void ranksWithUnequalAndWithoutRowsTrainToTheEnd() {
    Dataset<Row> all = spark.range(0, 110, 1, 1).selectExpr("id / 110 as id", "id / 55 as label");
    var uneven =
        spark.createDataFrame(
            all.toJavaRDD()
                .mapToPair(row -> new scala.Tuple2<>(row.getDouble(0) < 0.63 ? 0 : 1, row))
                .partitionBy(new org.apache.spark.HashPartitioner(3))
                .values(),
            all.schema());
    WeftModel line =
        new WeftEstimator(new TwoLayers("8"))
            .setFeaturesCol("id")
            .setNumWorkers(3)
            .setBatchSize(10)
            .setEpochs(40)
            .fit(uneven);
    TrainingSummary course = line.summary().orElseThrow();
    assertThat(course.rows()).containsExactly(70L, 40L, 0L);
    assertThat(course.equalWeights()).isTrue();
    assertThat(predictions(line.setFeaturesCol("id").transform(all)).get(55))
        .isCloseTo(1, within(0.1));
  }

  @Test
  void retryContinuesFromTheCheckpoint() {
    Dataset<Row> data = spark.range(64).selectExpr("id / 64 as id", "id / 32 as label");
    WeftEstimator estimator =
        new WeftEstimator(new TwoLayers("8"))
            .setFeaturesCol("id")
            .setNumWorkers(2)
            .setBatchSize(8)
            .setEpochs(6);
    TrainingSummary undisturbed = estimator.fit(data).summary().orElseThrow();
    TrainingSummary resumed =
        estimator
            .setNetwork(new LosingLayers())
            .setCheckpointDir(directory.resolve("checkpoints").toUri().toString())
            .fit(data)
            .summary()
            .orElseThrow();
    assertThat(resumed.losses()).hasSizeBetween(1, 5);
    assertThat(resumed.digests()).isEqualTo(undisturbed.digests());
  }

  @Test
  void blockWithoutParametersIsNamed() {
    Dataset<Row> data = spark.range(8).selectExpr("id", "id as label");
    assertThatThrownBy(
            () ->
                new WeftEstimator(new TwoLayers("0"))
                    .setFeaturesCol("id")
                    .setNumWorkers(2)
                    .fit(data))
        .isInstanceOf(RankFailedException.class)
        .hasMessageContaining("has no parameters, expected at least one to train");
  }
}
