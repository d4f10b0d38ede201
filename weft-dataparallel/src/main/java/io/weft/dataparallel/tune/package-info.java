// SPDX-License-Identifier: Apache-2.0
/// The tuning of the sizes of the data-parallel layer and of collectives by the time of steps.
@NullMarked
package io.weft.dataparallel.tune;

import org.jspecify.annotations.NullMarked;
