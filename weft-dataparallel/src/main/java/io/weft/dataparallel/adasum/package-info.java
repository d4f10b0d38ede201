// SPDX-License-Identifier: Apache-2.0
/// Adasum: gradients combined by how far they agree.
@NullMarked
package io.weft.dataparallel.adasum;

import org.jspecify.annotations.NullMarked;
