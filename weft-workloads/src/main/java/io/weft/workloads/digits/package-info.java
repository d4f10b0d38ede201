// SPDX-License-Identifier: Apache-2.0
/// Digits drawn at run time, so that a network can train without data files: glyphs of several
/// fonts, distorted, rasterised and blurred. They need no fonts or graphics of the machine. They
/// are pure functions of a seed. Any thread may draw them.
@NullMarked
package io.weft.workloads.digits;

import org.jspecify.annotations.NullMarked;
