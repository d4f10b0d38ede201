// SPDX-License-Identifier: Apache-2.0
/// Limits: those that the system sets to this process, in words that an operator can act on; and
/// that of strangers.
@NullMarked
package io.weft.transport.limit;

import org.jspecify.annotations.NullMarked;
