// SPDX-License-Identifier: Apache-2.0
/// Replays of the gradients of published networks through the data-parallel layer.
@NullMarked
package io.weft.perf.gradients;

import org.jspecify.annotations.NullMarked;
