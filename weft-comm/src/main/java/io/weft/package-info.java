// SPDX-License-Identifier: Apache-2.0
/// The entry point of a rank, which joins the job, obtains communicators and leaves. Any thread.
///
/// ```java
/// try (Weft weft = Weft.init()) {
///   var named = CollectiveOptions.named("gradient");
///   weft.communicator().allreduce(tensor, tensor, ReduceOp.AVERAGE, named).await();
/// }
/// ```
@NullMarked
package io.weft;

import org.jspecify.annotations.NullMarked;
