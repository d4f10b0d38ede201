// SPDX-License-Identifier: Apache-2.0
/// What the ranks of a communicator are to do together: which tensors are ready on all of them,
/// which they disagree on, who is missing. Pure: no thread, no clock, no communicator.
@NullMarked
package io.weft.dataparallel.negotiation;

import org.jspecify.annotations.NullMarked;
