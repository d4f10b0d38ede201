// SPDX-License-Identifier: Apache-2.0
/// The measurements of the parameter server by keys. `KvPlan` describes the requests, and
/// `KvTraffic` generates their keys and values, for Weft and for its peers. The report of each
/// contestant has one case. `KvFigures` summarizes all rounds.
@NullMarked
package io.weft.perf.kv;

import org.jspecify.annotations.NullMarked;
