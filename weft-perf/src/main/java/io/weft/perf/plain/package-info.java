// SPDX-License-Identifier: Apache-2.0
/// The speed of the machine without Weft, measured for comparison.
@NullMarked
package io.weft.perf.plain;

import org.jspecify.annotations.NullMarked;
