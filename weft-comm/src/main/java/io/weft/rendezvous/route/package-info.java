// SPDX-License-Identifier: Apache-2.0
/// The state that a rank keeps for its edges from tensor to tensor: numbers, signatures, and the
/// memory for incoming tensors. On the progress thread, unless stated otherwise.
@NullMarked
package io.weft.rendezvous.route;

import org.jspecify.annotations.NullMarked;
