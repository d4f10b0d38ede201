// SPDX-License-Identifier: Apache-2.0
/// The messages between ranks of a collective: how their fields lie in a segment.
@NullMarked
package io.weft.collective.frame;

import org.jspecify.annotations.NullMarked;
