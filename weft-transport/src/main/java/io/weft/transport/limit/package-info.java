// SPDX-License-Identifier: Apache-2.0
/// Limits that the system imposes on this process, described for operators, and limits on unproven
/// peers.
@NullMarked
package io.weft.transport.limit;

import org.jspecify.annotations.NullMarked;
