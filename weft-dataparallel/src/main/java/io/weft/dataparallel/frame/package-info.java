// SPDX-License-Identifier: Apache-2.0
/// The messages of the negotiation, and their encoding.
@NullMarked
package io.weft.dataparallel.frame;

import org.jspecify.annotations.NullMarked;
