// SPDX-License-Identifier: Apache-2.0
/// The communication that data-parallel training requires: gradients averaged over the ranks.
@NullMarked
package io.weft.gradient;

import org.jspecify.annotations.NullMarked;
