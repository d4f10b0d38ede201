// SPDX-License-Identifier: Apache-2.0
/// Bindings of the functions and structures of libibverbs, and of the C functions for waiting. A
/// call that can fail returns a negative `errno`. The package owns no resources. Thread-safe.
@NullMarked
package io.weft.verbs.ffm;

import org.jspecify.annotations.NullMarked;
