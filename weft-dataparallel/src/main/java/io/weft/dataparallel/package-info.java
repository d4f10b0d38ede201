// SPDX-License-Identifier: Apache-2.0
/// Data-parallel training: which gradients are ready on all ranks, and how they travel together.
@NullMarked
package io.weft.dataparallel;

import org.jspecify.annotations.NullMarked;
