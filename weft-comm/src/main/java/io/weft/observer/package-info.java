// SPDX-License-Identifier: Apache-2.0
/// Events of the operations of a rank, for recorders, reports and timelines.
///
/// ```java
/// weft.observe(
///     new OperationObserver() {
///       @Override
///       public void ended(ObservedOperation operation, CommException failure, long nanos) {
///         long micros = (nanos - operation.submittedNanos()) / 1_000; // on the progress thread
///       }
///     });
/// ```
@NullMarked
package io.weft.observer;

import org.jspecify.annotations.NullMarked;
