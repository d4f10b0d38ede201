// SPDX-License-Identifier: Apache-2.0
/// Which examples each rank sees in which step, and the tensors that carry them into a session. One
/// thread.
@NullMarked
package io.weft.workloads.batch;

import org.jspecify.annotations.NullMarked;
