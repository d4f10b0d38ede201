// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.transfer.ReceivePlan;

/// One task's part of a call of the whole graph.
///
/// @param names its feeds, fetches and targets
/// @param receives its receives that share a request
record PartCall(GraphCall names, ReceivePlan receives) {}
