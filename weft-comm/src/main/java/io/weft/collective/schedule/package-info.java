// SPDX-License-Identifier: Apache-2.0
/// Algorithms as data: pure functions from rank and size to rounds of steps. Any thread.
@NullMarked
package io.weft.collective.schedule;

import org.jspecify.annotations.NullMarked;
