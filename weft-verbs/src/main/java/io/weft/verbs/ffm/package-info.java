// SPDX-License-Identifier: Apache-2.0
/// The functions and structures of libibverbs, and the few of the C library that waiting needs.
/// What can fail returns a negative `errno`; nothing is owned here. Any thread.
@NullMarked
package io.weft.verbs.ffm;

import org.jspecify.annotations.NullMarked;
