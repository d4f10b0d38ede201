// SPDX-License-Identifier: Apache-2.0
/// The compression of gradients to 16, 8 or 4 bits or to the largest elements, with error feedback.
///
/// ```java
/// Compression compression = Compression.parse("fp16");
/// GradientReducer reducer = compression.reducers().reducer(weft.communicator());
/// reducer.reduce("layer-1/kernel", tensor).await();
/// ```
@NullMarked
package io.weft.dataparallel.compress;

import org.jspecify.annotations.NullMarked;
