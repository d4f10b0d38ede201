// SPDX-License-Identifier: Apache-2.0
/// What measuring calls in the C library.
@NullMarked
package io.weft.perf.ffm;

import org.jspecify.annotations.NullMarked;
