// SPDX-License-Identifier: Apache-2.0
/// FLOAT32 as whole numbers of few bits, and what that leaves out.
@NullMarked
package io.weft.tensor.quantize;

import org.jspecify.annotations.NullMarked;
