// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.training.TrainingOutcome;

/// What the worker that reports knows at the end.
///
/// @param outcome as of any training
/// @param facts what only a training with servers has
public record ServedResult(TrainingOutcome outcome, ServingFacts facts) {}
