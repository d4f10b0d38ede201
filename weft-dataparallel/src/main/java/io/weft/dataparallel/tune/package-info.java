// SPDX-License-Identifier: Apache-2.0
/// Sizes of the data-parallel layer and of collectives, found by the time of steps.
@NullMarked
package io.weft.dataparallel.tune;

import org.jspecify.annotations.NullMarked;
