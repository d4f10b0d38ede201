// SPDX-License-Identifier: Apache-2.0
/// Watches that ranks which should have the same weights do: finds who differs, in what, since
/// when.
@NullMarked
package io.weft.dataparallel.sentinel;

import org.jspecify.annotations.NullMarked;
