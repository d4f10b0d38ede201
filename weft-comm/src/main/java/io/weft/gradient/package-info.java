// SPDX-License-Identifier: Apache-2.0
/// The communication that data-parallel training requires: gradients averaged over the ranks.
///
/// ```java
/// GradientReducer reducer = GradientReducer.ALLREDUCE.reducer(weft.communicator());
/// reducer.reduce("layer-1/kernel", tensor).await(); // in place; every rank reduces the same names
/// ```
@NullMarked
package io.weft.gradient;

import org.jspecify.annotations.NullMarked;
