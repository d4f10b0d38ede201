// SPDX-License-Identifier: Apache-2.0
/// Limits that the system sets to this process, in words that an operator can act on. Any thread.
@NullMarked
package io.weft.transport.limit;

import org.jspecify.annotations.NullMarked;
