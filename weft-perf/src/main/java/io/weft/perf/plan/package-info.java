// SPDX-License-Identifier: Apache-2.0
/// The simulator of a training step over a network, and `weft plan`, which recommends a way to
/// exchange gradients. The simulator moves no data: production code assigns gradients to buffers
/// and chooses algorithms, and formulas yield the times.
@NullMarked
package io.weft.perf.plan;

import org.jspecify.annotations.NullMarked;
