// SPDX-License-Identifier: Apache-2.0
/// Data-parallel training: the negotiation of gradients that are ready on all ranks, and their
/// fused reduction.
@NullMarked
package io.weft.dataparallel;

import org.jspecify.annotations.NullMarked;
