// SPDX-License-Identifier: Apache-2.0
/// An estimator and a model for Spark's pipelines: networks of TensorFlow that the executors train
/// together, with gradients averaged by Weft.
///
/// ```java
/// var network = new WeftEstimator(new DenseNetwork(0.001f, 128)).setClasses(10).setEpochs(4);
/// var fitted = new Pipeline().setStages(new PipelineStage[] {scaler, network}).fit(training);
/// ```
@NullMarked
package io.weft.spark.ml;

import org.jspecify.annotations.NullMarked;
