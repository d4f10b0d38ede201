// SPDX-License-Identifier: Apache-2.0
/// Blocks of DJL as models of `WeftEstimator`. Programs that use this package depend on
/// `io.weft:weft-djl`.
@NullMarked
package io.weft.spark.djl;

import org.jspecify.annotations.NullMarked;
