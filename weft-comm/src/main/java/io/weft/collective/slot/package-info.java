// SPDX-License-Identifier: Apache-2.0
/// Exchanges of small tensors by memory in which the ranks of one host show them to each other,
/// without messages.
@NullMarked
package io.weft.collective.slot;

import org.jspecify.annotations.NullMarked;
