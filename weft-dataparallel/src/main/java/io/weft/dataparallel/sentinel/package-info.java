// SPDX-License-Identifier: Apache-2.0
/// The detection of ranks whose weights differ, with tensor and step.
@NullMarked
package io.weft.dataparallel.sentinel;

import org.jspecify.annotations.NullMarked;
