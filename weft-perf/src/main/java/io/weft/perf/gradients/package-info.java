// SPDX-License-Identifier: Apache-2.0
/// The gradients of published networks, replayed through the data-parallel layer.
@NullMarked
package io.weft.perf.gradients;

import org.jspecify.annotations.NullMarked;
