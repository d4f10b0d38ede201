// SPDX-License-Identifier: Apache-2.0
/// Models that `WeftEstimator` trains, whichever library computes them: graphs of TensorFlow
/// (`io.weft.spark.ml.NetworkFactory`), blocks of DJL (`io.weft.spark.djl.BlockFactory`), or
/// others.
@NullMarked
package io.weft.spark.model;

import org.jspecify.annotations.NullMarked;
