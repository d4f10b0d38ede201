// SPDX-License-Identifier: Apache-2.0
/// The compression of gradients to 16, 8 or 4 bits or to the largest elements, with error feedback.
@NullMarked
package io.weft.dataparallel.compress;

import org.jspecify.annotations.NullMarked;
