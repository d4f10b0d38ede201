// SPDX-License-Identifier: Apache-2.0
/// The algorithm that a collective takes, and its schedule with precomputed dependencies.
@NullMarked
package io.weft.collective.plan;

import org.jspecify.annotations.NullMarked;
