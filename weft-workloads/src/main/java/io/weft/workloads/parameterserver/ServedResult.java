// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.training.TrainingOutcome;

/// The result of a training with servers, on the worker that reports.
///
/// @param outcome as of any training
/// @param facts that only a training with servers has
public record ServedResult(TrainingOutcome outcome, ServingFacts facts) {}
