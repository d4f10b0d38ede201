// SPDX-License-Identifier: Apache-2.0
/// Which tensors share a buffer, and these buffers.
@NullMarked
package io.weft.dataparallel.fusion;

import org.jspecify.annotations.NullMarked;
