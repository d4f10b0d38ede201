// SPDX-License-Identifier: Apache-2.0
/// Measurements of the parameter server by keys. `KvPlan` says what, `KvTraffic` which keys and
/// values, for Weft and for its peers; each contestant is processes of its own that print a
/// `KvRun`; `KvFigure` is what the report has of all rounds.
@NullMarked
package io.weft.perf.kv;

import org.jspecify.annotations.NullMarked;
