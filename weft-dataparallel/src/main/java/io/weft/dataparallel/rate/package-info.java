// SPDX-License-Identifier: Apache-2.0
/// Learning rates that depend on the number of ranks, and metrics averaged over ranks.
@NullMarked
package io.weft.dataparallel.rate;

import org.jspecify.annotations.NullMarked;
