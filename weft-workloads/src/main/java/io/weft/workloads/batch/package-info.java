// SPDX-License-Identifier: Apache-2.0
/// The assignment of examples to ranks and steps, and the tensors that carry examples into a
/// session. Confined to one thread.
@NullMarked
package io.weft.workloads.batch;

import org.jspecify.annotations.NullMarked;
