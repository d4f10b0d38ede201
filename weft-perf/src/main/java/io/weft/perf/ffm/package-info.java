// SPDX-License-Identifier: Apache-2.0
/// The functions of the C library that a measurement calls.
@NullMarked
package io.weft.perf.ffm;

import org.jspecify.annotations.NullMarked;
