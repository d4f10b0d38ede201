// SPDX-License-Identifier: Apache-2.0
/// What a rank keeps for its edges from tensor to tensor: numbers, signatures, and the memory where
/// tensors arrive. On the progress thread, unless said otherwise.
@NullMarked
package io.weft.rendezvous.route;

import org.jspecify.annotations.NullMarked;
