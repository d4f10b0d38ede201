// SPDX-License-Identifier: Apache-2.0
/// Adasum: the combination of gradients by their agreement.
@NullMarked
package io.weft.dataparallel.adasum;

import org.jspecify.annotations.NullMarked;
