// SPDX-License-Identifier: Apache-2.0
/// Distributed training of DJL models with PyTorch: gradients are averaged in PyTorch's memory, by
/// a trainer or by a listener.
///
/// ```java
/// var config = new DefaultTrainingConfig(loss).addTrainingListeners(new DistributedListener(weft));
/// ```
@NullMarked
package io.weft.djl;

import org.jspecify.annotations.NullMarked;
