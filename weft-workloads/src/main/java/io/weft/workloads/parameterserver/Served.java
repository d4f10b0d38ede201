// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.workloads.training.Outcome;

/// What the worker that reports knows at the end.
///
/// @param outcome as of any training
/// @param facts what only a training with servers has
public record Served(Outcome outcome, ServingFacts facts) {}
