// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.model;

/// The settings of a training that a model depends on.
///
/// @param width the number of features
/// @param classes the number of classes, or 0 if labels are any numbers
/// @param batchSize the rows of a rank in each step
/// @param seed the seed for initial values
/// @param processors the processors of a rank
public record ModelInput(int width, int classes, int batchSize, long seed, int processors) {}
