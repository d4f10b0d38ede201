// SPDX-License-Identifier: Apache-2.0
/// What data-parallel training asks of communication: gradients averaged over the ranks.
@NullMarked
package io.weft.gradient;

import org.jspecify.annotations.NullMarked;
