// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.transfer.ReceivePlan;

/// What a task runs for a call of the whole graph.
///
/// @param names its feeds, fetches and targets
/// @param receives which of its receives travel together
record PartCall(GraphCall names, ReceivePlan receives) {}
