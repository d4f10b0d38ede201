// SPDX-License-Identifier: Apache-2.0
/// Adasum: the combination of gradients by their agreement.
///
/// ```java
/// GradientReducer reducer = Adasum.REDUCERS.reducer(weft.communicator());
/// reducer.reduce("layer-1/kernel", tensor).await();
/// ```
@NullMarked
package io.weft.dataparallel.adasum;

import org.jspecify.annotations.NullMarked;
