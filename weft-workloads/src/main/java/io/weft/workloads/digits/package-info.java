// SPDX-License-Identifier: Apache-2.0
/// Digits drawn at run time, so that a network can train where no data file is: glyphs of several
/// fonts, distorted, rasterised and blurred. Needs no font and no graphics of the machine. Pure
/// functions of a seed; any thread.
@NullMarked
package io.weft.workloads.digits;

import org.jspecify.annotations.NullMarked;
