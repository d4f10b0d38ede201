// SPDX-License-Identifier: Apache-2.0
/// Exchanges of several sequential collectives. A separate thread computes between the collectives,
/// because neither the caller nor the progress thread may be blocked.
@NullMarked
package io.weft.dataparallel.worker;

import org.jspecify.annotations.NullMarked;
