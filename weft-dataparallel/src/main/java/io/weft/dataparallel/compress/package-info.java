// SPDX-License-Identifier: Apache-2.0
/// Gradients that travel in fewer bytes: as 16-, 8- or 4-bit numbers, or only the largest of them,
/// with error feedback.
@NullMarked
package io.weft.dataparallel.compress;

import org.jspecify.annotations.NullMarked;
