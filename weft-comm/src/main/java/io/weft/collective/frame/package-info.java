// SPDX-License-Identifier: Apache-2.0
/// The layout of the messages between ranks of a collective.
@NullMarked
package io.weft.collective.frame;

import org.jspecify.annotations.NullMarked;
