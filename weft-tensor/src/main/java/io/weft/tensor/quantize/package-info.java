// SPDX-License-Identifier: Apache-2.0
/// Quantization of FLOAT32 elements to 8, 4 or 2 bits, and its residuals.
@NullMarked
package io.weft.tensor.quantize;

import org.jspecify.annotations.NullMarked;
