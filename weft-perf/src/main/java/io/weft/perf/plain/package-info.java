// SPDX-License-Identifier: Apache-2.0
/// What a machine can do without Weft, measured beside it.
@NullMarked
package io.weft.perf.plain;

import org.jspecify.annotations.NullMarked;
