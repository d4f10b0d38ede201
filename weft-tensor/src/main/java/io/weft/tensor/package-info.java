// SPDX-License-Identifier: Apache-2.0
/// Tensors: an element type, a shape and native memory. Immutable or borrowed; any thread.
@NullMarked
package io.weft.tensor;

import org.jspecify.annotations.NullMarked;
