// SPDX-License-Identifier: Apache-2.0
/// The negotiation of a communicator's ranks: tensors that are ready on all of them, disagreements,
/// and missing ranks. Pure: it has no thread, clock or communicator.
@NullMarked
package io.weft.dataparallel.negotiation;

import org.jspecify.annotations.NullMarked;
