// SPDX-License-Identifier: Apache-2.0
/// Memory in which the ranks of one host show each other small tensors, without messages.
@NullMarked
package io.weft.collective.slot;

import org.jspecify.annotations.NullMarked;
